import { z } from 'zod'

import { byteSize, byteSizeText } from '../values/byte-size.js'
import { key, wholeNumber, wholeNumberText } from '../values/key.js'

const MIB = 1024 * 1024
const MIN_BYTES = 64 * MIB
const MAX_BYTES = 64 * 1024 * MIB
const MAX_SECONDS = 600
const MAX_CORES = 64

/** What one run of the `opa` program may use. */
export const CompilerSection = z.strictObject({
  timeoutSeconds: key(
    wholeNumber(1, MAX_SECONDS).default(20),
    'How long one run of the `opa` program may take, in seconds. Policies that take longer are not loaded; the last good ones stay in service.',
    wholeNumberText(1, MAX_SECONDS),
  ),
  maxMemoryBytes: key(
    byteSize(MIN_BYTES, MAX_BYTES).default(2048 * MIB),
    'The most memory that one run may use. Linux only; elsewhere it is a goal for the garbage collector.',
    byteSizeText(MIN_BYTES, MAX_BYTES),
  ),
  cores: key(
    wholeNumber(1, MAX_CORES).default(2),
    'How many cores one run computes on (`GOMAXPROCS`).',
    wholeNumberText(1, MAX_CORES),
  ),
})
