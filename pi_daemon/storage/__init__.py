"""Where sessions live: two protocols that the engine knows, with files and memory behind them."""
