"""The browser dashboard. It asks the engine and knows neither privacy nor single mechanisms."""
