import { z } from 'zod'

import { key, wholeNumber } from './key.js'
import type { NumberRange } from './key.js'

const SIZE = /^(?<amount>\d+(?:\.\d+)?)\s*(?<unit>[KMG]i?B|B)?$/i

const BYTES: Readonly<Record<string, number>> = {
  b: 1,
  kb: 1000,
  mb: 1000 ** 2,
  gb: 1000 ** 3,
  kib: 1024,
  mib: 1024 ** 2,
  gib: 1024 ** 3,
}

/** Describes the values that `byteSize` accepts. */
export function byteSizeText(min: number, max: number): string {
  return `a number of bytes from ${min} to ${max}, or a text like 512KB or 10MiB`
}

/** A number of bytes within limits, or a text with a unit: `10MiB` (1024s), `512KB` (1000s). */
export function byteSize(min: number, max: number) {
  return z.preprocess(toBytes, wholeNumber(min, max))
}

/** A key for a number of bytes. */
export function byteSizeKey({ min, max, default: byDefault }: NumberRange, description: string) {
  return key(byteSize(min, max).default(byDefault), description, byteSizeText(min, max))
}

function toBytes(value: unknown): unknown {
  if (typeof value !== 'string') return value
  const groups = SIZE.exec(value.trim())?.groups
  if (groups === undefined) return value
  return Math.round(Number(groups['amount']) * (BYTES[groups['unit']?.toLowerCase() ?? 'b'] ?? 1))
}
