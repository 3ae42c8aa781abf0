/** Where a server of PostgreSQL listens. */
export interface PostgresHost {
  /** A name, an address, or the directory of a unix socket. */
  readonly host: string
  readonly port: number
}

/** How the database is reached. Plain values, since they cross a thread. */
export interface PostgresSettings extends PostgresHost {
  /** Where the database may be instead: of all these the one is used that takes writes. */
  readonly otherHosts?: readonly PostgresHost[] | undefined
  /** Whether a standby will do where nothing is written and no host takes writes. */
  readonly takesStandby?: boolean | undefined
  readonly user: string
  readonly database: string
  /** Where absent, PGPASSWORD or the password file of the client library (`~/.pgpass`, PGPASSFILE). */
  readonly password?: string | undefined
  /** The file that the password was read from: each connection reads it anew, since it may be replaced. */
  readonly passwordFile?: string | undefined
  /** Absent where the connection is not encrypted. */
  readonly tls?: PostgresTls | undefined
}

/** Certificates are PEM texts. */
export interface PostgresTls {
  /** Whether the server must prove its name by a certificate of a known authority. */
  readonly isVerified: boolean
  readonly ca?: string | undefined
  readonly certificate?: string | undefined
  readonly key?: string | undefined
}

/** How long what is asked of the database may take, in milliseconds. */
export interface PostgresTimeouts {
  /** For one statement. */
  readonly statementMs: number
  /** For a lock that others hold. */
  readonly lockMs: number
}
