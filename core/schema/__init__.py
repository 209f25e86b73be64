"""The public schema: attributes, domains, code books and guesses; it never sees data. It imports base."""
