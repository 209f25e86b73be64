"""The public artefact: records, tables, certificate, report, metadata. It imports rooms up to plans."""
