import { z } from 'zod'

import type { ParameterReader } from './parameter-reader.js'
import { AppError } from '../../../errors/app-error.js'

/** Gets a JSON document from the tool. Raises an AppError whose message is a sentence about what went wrong. */
export type ReadJson = <T>(schema: z.ZodType<T>, url: string) => Promise<T>

/** One thing to look up at a tool. */
export interface Lookup {
  /** What it is called in messages: OPS-12. */
  readonly subject: string
  readonly fetch: (read: ReadJson) => Promise<readonly object[]>
}

/** What is particular to a tool: how its parameters become requests, and its answers evidence. */
export interface Tool {
  readonly connectorTypes: readonly string[]
  /** What the parameters ask for; what is wrong with them is noted by their reader. */
  readonly lookUps: (parameters: ParameterReader, baseUrl: string) => readonly Lookup[]
}

/** Segments that encode to themselves and would lead elsewhere. */
const MISLEADING: readonly string[] = ['', '.', '..']

/** The URL of a resource below a tool's own: every segment and value encoded. Raises `invalid` for a segment that climbs. */
export function toolUrl(
  baseUrl: string,
  segments: readonly string[],
  query: Readonly<Record<string, string>> = {},
): string {
  const wrong = segments.find((segment) => MISLEADING.includes(segment))
  if (wrong !== undefined) throw new AppError('invalid', `a name may not be ${JSON.stringify(wrong)}`)
  const path = segments.map((segment) => `/${encodeURIComponent(segment)}`).join('')
  const search = new URLSearchParams(query).toString()
  return `${baseUrl.replace(/\/+$/, '')}${path}${search === '' ? '' : `?${search}`}`
}

const MAX_LENGTH = 2000

/** A text of a tool, cut to what is worth keeping with an instance. */
export const shortText = z.string().transform((text) => text.slice(0, MAX_LENGTH))

/** The text, or null where the tool has none. */
export const optionalText = shortText.nullish().transform((text) => text ?? null)

/** An object of which only its name matters. */
export const named = z.object({ name: shortText }).transform(({ name }) => name)

/** The name, or null where the tool has no such object. */
export const optionalNamed = named.nullish().transform((name) => name ?? null)
