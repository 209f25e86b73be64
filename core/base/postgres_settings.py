"""How every connection to a PostgreSQL server is made, by the ledger and by tables that are read from one."""

CONNECTING = {
    "client_encoding": "utf8",
    "connect_timeout": "10",
    "application_name": "release-desk",
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "30000",
}
"""Where the address says nothing else. A server that fell silent is given up after some 25 seconds."""
