"""What several pages share: access, state, messages, charts, forms."""
