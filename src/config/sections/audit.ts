import { z } from 'zod'

import { byteSize, byteSizeKey, byteSizeText } from '../values/byte-size.js'
import { key, wholeNumber, wholeNumberKey, wholeNumberText } from '../values/key.js'
import { secretKey } from '../values/secret.js'

const KIB = 1024
const MIB = 1024 * KIB
const GIB = 1024 * MIB
const MAX_BODY = 256 * MIB
const MAX_DAYS = 36_500

const DECISIONS = ['none', 'denied', 'executions'] as const

export const AuditSection = z.strictObject({
  maxBodyBytes: byteSizeKey(
    { min: KIB, max: MAX_BODY, default: 10 * MIB },
    'Maximum size of the body of an event.',
  ),
  maxWaitingBytes: byteSizeKey(
    { min: MIB, max: 16 * GIB, default: 64 * MIB },
    'Memory for events that wait to be written. Beyond it events are answered with 503.',
  ),
  decisions: key(
    z.enum(DECISIONS).default('executions'),
    'Which policy decisions the trail records if `decisions.enabled` is true: denials and errors that name an execution or an application (`denied`), in addition all others that name an execution (`executions`), or none.',
    DECISIONS.join(', '),
  ),
  decisionsPerSecond: wholeNumberKey(
    { min: 1, max: 10_000, default: 50 },
    'Maximum number of decisions per second in the trail, averaged over a minute. The rest is counted there. Half is reserved for denials and errors.',
  ),
  signingKey: secretKey(
    'The Ed25519 key that signs checkpoints: PKCS#8 in DER, in Base64 on one line (`tidegate audit keygen` creates one). Without it checkpoints are unsigned.',
  ).optional(),
  earlierPublicKeys: key(
    z.array(z.string().min(1)).default([]),
    'Public keys of earlier signing keys, with which `tidegate audit verify` verifies older checkpoints.',
    'a list of texts, each a public key as `tidegate audit keygen` prints it',
  ),
  checkpointRecords: wholeNumberKey(
    { min: 1, max: 10_000_000, default: 1000 },
    'Number of records after which a checkpoint is written.',
  ),
  checkpointMinutes: wholeNumberKey(
    { min: 1, max: 1440, default: 5 },
    'Time after which a checkpoint is written if there are new records, in minutes.',
  ),
  maxAgeDays: key(
    wholeNumber(1, MAX_DAYS).optional(),
    'How long records are kept, in days. Permanently by default.',
    wholeNumberText(1, MAX_DAYS),
  ),
  maxBytes: key(
    byteSize(16 * MIB, 16 * 1024 * GIB).optional(),
    'Size of the database above which the oldest records are removed. Unlimited by default.',
    byteSizeText(16 * MIB, 16 * 1024 * GIB),
  ),
})
