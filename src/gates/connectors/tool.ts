import type { z } from 'zod'

import type { ParameterReader } from './parameter-reader.js'

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
