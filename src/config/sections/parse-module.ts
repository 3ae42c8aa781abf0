import { z } from 'zod'

import { byteSize, byteSizeText } from '../values/byte-size.js'
import { key, wholeNumber, wholeNumberText } from '../values/key.js'

const KIB = 1024
const MIB = 1024 * KIB
const MAX_TEXT_BYTES = 16 * MIB
const MAX_ANSWER_BYTES = 64 * MIB
const MAX_CACHE_BYTES = 1024 * MIB
const MAX_SECONDS = 60
const MAX_PROGRAMS = 64
const MAX_QUEUE_LENGTH = 10_000

/** What policies may have parsed while they decide. */
export const ParseModuleSection = z.strictObject({
  enabled: key(
    z.boolean().default(false),
    'Whether policies may call `rego.parse_module`: the `opa` program is then run for each text that was not parsed before, some 30 ms of a core. Where it is false, policies that call it are not loaded.',
    'true or false',
  ),
  timeoutSeconds: key(
    wholeNumber(1, MAX_SECONDS).default(2),
    'The longest that one module may take to be parsed; above it the answer is 500 `evaluation_request_refused`.',
    wholeNumberText(1, MAX_SECONDS),
  ),
  maxTextBytes: key(
    byteSize(KIB, MAX_TEXT_BYTES).default(64 * KIB),
    'The longest module that is parsed; a decision with a longer one is 500 `evaluation_request_refused`.',
    byteSizeText(KIB, MAX_TEXT_BYTES),
  ),
  maxAnswerBytes: key(
    byteSize(KIB, MAX_ANSWER_BYTES).default(4 * MIB),
    'The largest syntax tree that is taken, as JSON; a decision with a larger one is 500 `evaluation_request_refused`.',
    byteSizeText(KIB, MAX_ANSWER_BYTES),
  ),
  programs: key(
    wholeNumber(1, MAX_PROGRAMS).default(1),
    'How many `opa` programs parse at a time, in each process.',
    wholeNumberText(1, MAX_PROGRAMS),
  ),
  queueLength: key(
    wholeNumber(0, MAX_QUEUE_LENGTH).default(32),
    'How many decisions may wait for one, in each process; beyond that the answer is 503 with `Retry-After`.',
    wholeNumberText(0, MAX_QUEUE_LENGTH),
  ),
  cacheBytes: key(
    byteSize(0, MAX_CACHE_BYTES).default(16 * MIB),
    'What syntax trees may take that are kept for other decisions, by text, in each process.',
    byteSizeText(0, MAX_CACHE_BYTES),
  ),
})
