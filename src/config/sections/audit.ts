import { z } from 'zod'

import { byteSize, byteSizeText } from '../values/byte-size.js'
import { key, wholeNumber, wholeNumberText } from '../values/key.js'
import { secretKey } from '../values/secret.js'

const KIB = 1024
const MIB = 1024 * KIB
const GIB = 1024 * MIB
const MAX_BODY = 256 * MIB
const MAX_DAYS = 36_500

const DECISIONS = ['none', 'denied', 'executions'] as const

/** The audit trail and the events that go into it. */
export const AuditSection = z.strictObject({
  maxBodyBytes: key(
    byteSize(KIB, MAX_BODY).default(10 * MIB),
    'How large the body of an event may be.',
    byteSizeText(KIB, MAX_BODY),
  ),
  maxWaitingBytes: key(
    byteSize(MIB, 16 * GIB).default(64 * MIB),
    'Memory that events may hold while they wait to be written; beyond it they are answered 503.',
    byteSizeText(MIB, 16 * GIB),
  ),
  decisions: key(
    z.enum(DECISIONS).default('executions'),
    'Which policy decisions stand in the trail, while `decisions.enabled` is true: denials and errors that name an execution or an application (`denied`), also all others that name an execution (`executions`), or none.',
    DECISIONS.join(', '),
  ),
  decisionsPerSecond: key(
    wholeNumber(1, 10_000).default(50),
    'How many decisions a second go into the trail, averaged over a minute; the rest are counted there. Half of them are kept for denials and errors.',
    wholeNumberText(1, 10_000),
  ),
  signingKey: secretKey(
    'The Ed25519 key that checkpoints are signed with: PKCS#8 in DER, in Base64 on one line (`tidegate audit keygen` makes one). Without it checkpoints are written unsigned.',
  ).optional(),
  earlierPublicKeys: key(
    z.array(z.string().min(1)).default([]),
    'The public keys of earlier signing keys, by which `tidegate audit verify` knows their checkpoints again after the key was changed.',
    'a list of texts, each a public key as `tidegate audit keygen` prints it',
  ),
  checkpointRecords: key(
    wholeNumber(1, 10_000_000).default(1000),
    'After how many records a checkpoint is written.',
    wholeNumberText(1, 10_000_000),
  ),
  checkpointMinutes: key(
    wholeNumber(1, 1440).default(5),
    'After how long a checkpoint is written when there are new records.',
    wholeNumberText(1, 1440),
  ),
  maxAgeDays: key(
    wholeNumber(1, MAX_DAYS).optional(),
    'How long records are kept, in days; for ever where this is not set.',
    wholeNumberText(1, MAX_DAYS),
  ),
  maxBytes: key(
    byteSize(16 * MIB, 16 * 1024 * GIB).optional(),
    'How large the database may grow before the oldest records go; without bound where this is not set.',
    byteSizeText(16 * MIB, 16 * 1024 * GIB),
  ),
})
