"""What routes read from requests. access: dependencies of routes; node_ids: node ids; bodies: request bodies."""
