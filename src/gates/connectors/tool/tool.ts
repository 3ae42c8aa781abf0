import { z } from 'zod'

import type { ParameterReader } from './parameter-reader.js'
import { AppError } from '../../../errors/app-error.js'

/** Fetches a JSON document from the tool. Raises an AppError with a sentence as message. */
export type ReadJson = <T>(schema: z.ZodType<T>, url: string) => Promise<T>

/** One lookup at a tool. */
export interface Lookup {
  /** Name in messages, such as OPS-12. */
  readonly subject: string
  readonly fetch: (read: ReadJson) => Promise<readonly object[]>
}

/** The specifics of a tool: lookups for parameters, and evidence from responses. */
export interface Tool {
  readonly connectorTypes: readonly string[]
  /** Returns the lookups for some parameters. The reader collects problems. */
  readonly lookups: (parameters: ParameterReader, baseUrl: string) => readonly Lookup[]
}

/** Segments that stay unencoded and would change the path. */
const MISLEADING: readonly string[] = ['', '.', '..']

/**
 * Builds the URL of a resource below a tool's URL from encoded segments and values. Raises
 * `invalid` for a segment that changes the path.
 */
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

/** A text of a tool, cut to a length worth storing. */
export const shortText = z.string().transform((text) => text.slice(0, MAX_LENGTH))

/** The text, or null without one. */
export const optionalText = shortText.nullish().transform((text) => text ?? null)

/** An object of which only the name is used. */
export const named = z.object({ name: shortText }).transform(({ name }) => name)

/** The name, or null without an object. */
export const optionalNamed = named.nullish().transform((name) => name ?? null)
