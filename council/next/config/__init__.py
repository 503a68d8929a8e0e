"""What the user chose: settings with their sources, endpoints, models and prices, personas, and where things are."""
