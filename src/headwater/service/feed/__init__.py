"""What listeners are told: feed: of each stored event whom it touched; news: what it made new."""
