import { z } from 'zod'

import { byteSizeKey } from '../values/byte-size.js'
import { booleanKey, key, wholeNumberKey } from '../values/key.js'
import { DecisionSinksSection } from './decision-sinks.js'

const MIB = 1024 * 1024
const GIB = 1024 * MIB
const MAX_KEPT_BYTES = 64 * MIB
const MAX_DATABASE_BYTES = 1024 * GIB

const maskPointer = key(
  z.string().regex(/^\/(?:[^~]|~[01])*$/),
  'A mask.',
  'a JSON pointer that starts with "/", in which "~" is written ~0 and "*" stands for every member: /stages/*/secret',
)

export const DecisionsSection = z.strictObject({
  enabled: booleanKey(true, 'Whether decisions are logged.'),
  maxInputBytes: byteSizeKey(
    { min: 0, max: MAX_KEPT_BYTES, default: 16 * MIB },
    'Number of bytes of an input that are kept, at most a quarter of `decisions.bufferBytes`. The rest is truncated, and the decision cannot be evaluated again. Inputs are compressed, and their equal parts are stored once.',
  ),
  maxResultBytes: byteSizeKey(
    { min: 0, max: MAX_KEPT_BYTES, default: 4096 },
    'Number of bytes of a result that are kept. The rest is truncated.',
  ),
  ndBuiltinCacheBytes: byteSizeKey(
    { min: 0, max: MIB, default: 65_536 },
    'Number of bytes kept of calls to non-deterministic built-ins (`http.send`, `time.now_ns`, `rand.intn`, …), so that a decision can be replayed. If there are more, all are omitted. 0 keeps none.',
  ),
  mask: key(
    z.array(maskPointer).default([]),
    'JSON pointers to input values that are neither logged nor quoted in results. `*` matches every member or element: `/stages/*/secret`.',
    'a list of JSON pointers',
  ),
  redact: booleanKey(
    true,
    'Whether apparent secrets are replaced by `[redacted]` in logged inputs, results and errors, by the same rules as in the trail: values with secret names, credentials in URLs, tokens and keys.',
  ),
  bufferRows: wholeNumberKey(
    { min: 1, max: 10_000_000, default: 65_536 },
    'Number of decisions that may wait in memory to be written. Beyond it new ones are dropped and counted.',
  ),
  bufferBytes: byteSizeKey(
    { min: MIB, max: 16 * GIB, default: 64 * MIB },
    'Memory for waiting decisions. Beyond it new ones are dropped and counted.',
  ),
  givesWay: key(
    z
      .array(key(z.enum(['detail', 'allows']), 'A part of decisions.', 'detail, allows'))
      .default(['detail', 'allows']),
    'Data dropped first when the disk is too slow and the buffer fills: `detail` (inputs and results) when it is half full, `allows` (decisions that allow) when it is three quarters full. Both are counted. A full buffer drops every decision.',
    'a list of detail, allows',
  ),
  flushIntervalMs: wholeNumberKey(
    { min: 1, max: 60_000, default: 250 },
    'How long a decision waits to be written together with others, in milliseconds.',
  ),
  maxAgeDays: wholeNumberKey({ min: 1, max: 3650, default: 30 }, 'How long decisions are kept, in days.'),
  maxBytes: byteSizeKey(
    { min: MIB, max: MAX_DATABASE_BYTES, default: 512 * MIB },
    'Maximum size of the decision log file. The oldest decisions are removed first.',
  ),
  maxSourcesBytes: byteSizeKey(
    { min: 0, max: 16 * GIB, default: 64 * MIB },
    'Maximum size of the stored policies and data of revisions that decided, which explain decisions after a change. Equal files are stored once, compressed. Data over a quarter of it is not stored. 0 stores none.',
  ),
  sinks: DecisionSinksSection,
})
