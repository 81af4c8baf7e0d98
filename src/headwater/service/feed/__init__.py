"""Live changes. feed: what each stored event touched, sent to listeners; news: what it added."""
