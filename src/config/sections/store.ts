import { z } from 'zod'

import { DATABASE_URL_TEXT, isDatabaseUrl } from '../values/database-url.js'
import { key, wholeNumber, wholeNumberText } from '../values/key.js'
import { secretKey } from '../values/secret.js'

const MAX_NAME_LENGTH = 100
const TLS = ['auto', 'verify', 'require', 'off'] as const
const path = (description: string) => key(z.string().min(1).optional(), description, 'the path of a PEM file')

/** Where the durable records are kept. */
export const StoreSection = z.strictObject({
  url: key(
    z.string().refine(isDatabaseUrl).optional(),
    'The PostgreSQL that keeps the durable records, which several services share then; `tidegate.db` in the data directory where this is not set. What the URL leaves out is taken from PGHOST, PGPORT, PGUSER and PGDATABASE: `postgres://` takes all of it. Of several hosts (`postgres://tidegate@one,two/tidegate`) the one is used that takes writes.',
    DATABASE_URL_TEXT,
  ),
  password: secretKey(
    'The password of the user of the database. Without it PGPASSWORD or the file that PGPASSFILE names (`~/.pgpass`) is asked.',
  ).optional(),
  tls: key(
    z.enum(TLS).default('auto'),
    'Whether the connection is encrypted: with a certificate of the server that is checked (`verify`), without checking it (`require`), or not (`off`). `auto` is `off` on this machine itself and `verify` anywhere else.',
    TLS.join(', '),
  ),
  tlsCa: path(
    'The authorities that may have signed the certificate of the server; those of Node.js where this is not set.',
  ),
  tlsCertificate: path('The certificate that this service shows to the server.'),
  tlsKey: path('The key of that certificate.'),
  replica: key(
    z.string().trim().min(1).max(MAX_NAME_LENGTH).optional(),
    "The name of this service in the decision log that several share; the machine's where this is not set.",
    `a text of 1 to ${MAX_NAME_LENGTH} characters`,
  ),
  connections: key(
    wholeNumber(1, 200).default(8),
    'How many connections may look up single rows at a time. Up to six more are for writing, long reads, the decision log and news of other services.',
    wholeNumberText(1, 200),
  ),
})
