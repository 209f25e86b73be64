"""How the dashboard is served and who is let in: the key, the gate before Streamlit's own addresses, the settings.

Nothing here knows pages or data; it imports Streamlit and the standard library only.
"""
