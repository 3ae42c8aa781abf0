import { z } from 'zod'

import { byteSize, byteSizeText } from '../values/byte-size.js'
import { key, wholeNumber, wholeNumberText } from '../values/key.js'

const MIB = 1024 * 1024
const GIB = 1024 * MIB
const MAX_KEPT_BYTES = 64 * MIB
const MAX_DATABASE_BYTES = 1024 * GIB

const maskPointer = key(
  z.string().regex(/^\/(?:[^~]|~[01])*$/),
  'A mask.',
  'a JSON pointer that starts with "/", in which "~" is written ~0 and "*" stands for every member: /stages/*/secret',
)

/** What is kept of the decisions, and for how long. */
export const DecisionsSection = z.strictObject({
  enabled: key(z.boolean().default(true), 'Whether decisions are kept at all.', 'true or false'),
  maxInputBytes: key(
    byteSize(0, MAX_KEPT_BYTES).default(8192),
    'What is kept of an input; the rest is cut off.',
    byteSizeText(0, MAX_KEPT_BYTES),
  ),
  maxResultBytes: key(
    byteSize(0, MAX_KEPT_BYTES).default(4096),
    'What is kept of a result; the rest is cut off.',
    byteSizeText(0, MAX_KEPT_BYTES),
  ),
  ndBuiltinCacheBytes: key(
    byteSize(0, MIB).default(65_536),
    'What is kept of the calls of built-ins that might answer otherwise another time (`http.send`, `time.now_ns`, `rand.intn`, …), so that a decision can be made again; more of them are left out as a whole. 0 keeps none.',
    byteSizeText(0, MIB),
  ),
  mask: key(
    z.array(maskPointer).default([]),
    'JSON pointers into the input whose values are never kept, nor quoted in results; `*` is every member or element: `/stages/*/secret`.',
    'a list of JSON pointers',
  ),
  redact: key(
    z.boolean().default(true),
    'Whether what looks like a secret is replaced by `[redacted]` in inputs, results and errors before they are kept, by the same rules as in the trail: values named like one, credentials in URLs, tokens and keys.',
    'true or false',
  ),
  bufferRows: key(
    wholeNumber(1, 10_000_000).default(65_536),
    'Decisions that wait in memory to be written; beyond it new ones are dropped and counted.',
    wholeNumberText(1, 10_000_000),
  ),
  bufferBytes: key(
    byteSize(MIB, 16 * GIB).default(64 * MIB),
    'Memory that waiting decisions may hold; beyond it new ones are dropped and counted.',
    byteSizeText(MIB, 16 * GIB),
  ),
  givesWay: key(
    z
      .array(key(z.enum(['detail', 'allows']), 'A part of decisions.', 'detail, allows'))
      .default(['detail', 'allows']),
    'What gives way when the disk cannot follow and the buffer fills: `detail`, inputs and results, when it is half full; `allows`, decisions that allow, when it is three quarters full. Both are counted. Once it is full every decision is dropped; with an empty list only then.',
    'a list of detail, allows',
  ),
  flushIntervalMs: key(
    wholeNumber(1, 60_000).default(250),
    'How long a decision waits for others to be written with it, in milliseconds.',
    wholeNumberText(1, 60_000),
  ),
  maxAgeDays: key(
    wholeNumber(1, 3650).default(30),
    'How long decisions are kept, in days.',
    wholeNumberText(1, 3650),
  ),
  maxBytes: key(
    byteSize(MIB, MAX_DATABASE_BYTES).default(512 * MIB),
    'How large the file of decisions may grow; the oldest go first.',
    byteSizeText(MIB, MAX_DATABASE_BYTES),
  ),
})
