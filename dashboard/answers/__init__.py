"""Questions by HTTP: programs ask a shared session with a token. It asks the desk and knows no pages."""
