import { z } from 'zod'

import { DATABASE_URL_TEXT, isDatabaseUrl } from '../values/database-url.js'
import { key, wholeNumberKey } from '../values/key.js'
import { secretKey } from '../values/secret.js'

const MAX_NAME_LENGTH = 100
const TLS = ['auto', 'verify', 'require', 'off'] as const
const path = (description: string) => key(z.string().min(1).optional(), description, 'the path of a PEM file')

export const StoreSection = z.strictObject({
  url: key(
    z.string().refine(isDatabaseUrl).optional(),
    'URL of a PostgreSQL database for the durable records, which several services can share. By default the records are in `tidegate.db` in the data directory. Parts that the URL omits come from PGHOST, PGPORT, PGUSER and PGDATABASE; `postgres://` omits all of them. With several hosts (`postgres://tidegate@one,two/tidegate`) it uses the writable one.',
    DATABASE_URL_TEXT,
  ),
  password: secretKey(
    'Password of the database user. Defaults to PGPASSWORD, then to the file in PGPASSFILE (`~/.pgpass`).',
  ).optional(),
  tls: key(
    z.enum(TLS).default('auto'),
    'Whether the connection is encrypted: with verification of the server certificate (`verify`), without it (`require`), or not at all (`off`). `auto` is `off` on this machine and `verify` elsewhere.',
    TLS.join(', '),
  ),
  tlsCa: path('Trusted authorities for the server certificate. Defaults to those of Node.js.'),
  tlsCertificate: path('Client certificate of this service.'),
  tlsKey: path('The key of that certificate.'),
  replica: key(
    z.string().trim().min(1).max(MAX_NAME_LENGTH).optional(),
    'The name of this service in a shared decision log. Defaults to the host name.',
    `a text of 1 to ${MAX_NAME_LENGTH} characters`,
  ),
  connections: wholeNumberKey(
    { min: 1, max: 200, default: 8 },
    'Number of connections for lookups of single rows. Up to six more are used for writing, long reads, the decision log and notifications from other services.',
  ),
})
