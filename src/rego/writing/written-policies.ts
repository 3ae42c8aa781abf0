import { AppError } from '../../errors/app-error.js'
import type { DataFile } from '../data/load-data.js'
import type { RegoFile } from '../modules/rego-module.js'
import { spellNumbers } from '../workarounds/numbers-without-integer-part.js'

/** Policies and base documents that clients wrote. They take precedence over those of files. */
export interface WrittenPolicies {
  /** Rego by policy id; undefined for a deleted policy of a file. */
  readonly modules: ReadonlyMap<string, string | undefined>
  /** Edits of the base documents, in order. */
  readonly data: readonly DataFile[]
}

export const NOTHING_WRITTEN: WrittenPolicies = { modules: new Map(), data: [] }

const MIB = 1024 * 1024
/** They are in memory and compiled or copied by each write. */
const MAX_WRITTEN_BYTES = 64 * MIB
/** Each policy and each edited document counts as one. */
const MAX_WRITTEN = 10_000

/** Raises `too_large` if more is written than a service holds in memory. */
export function refuseTooMuch({ modules, data }: WrittenPolicies): void {
  const texts = [...modules.values()].reduce((sum, text = '') => sum + Buffer.byteLength(text), 0)
  const bytes = data.reduce((sum, { content }) => sum + content.length, texts)
  if (bytes <= MAX_WRITTEN_BYTES && modules.size + data.length <= MAX_WRITTEN) return
  throw new AppError(
    'too_large',
    `policies and data that clients write may have ${MAX_WRITTEN_BYTES / MIB} MiB in ${MAX_WRITTEN} policies and documents: load larger ones from a directory or a bundle`,
  )
}

/** Cannot be the start of a file's path, so that errors distinguish policies from files. */
const PREFIX = 'written://'

/** Returns the source files of all written policies. */
export function writtenFiles({ modules }: WrittenPolicies): RegoFile[] {
  return [...modules].flatMap(([id, source]) => {
    if (source === undefined) return []
    const text = spellNumbers(source)
    const file = `${PREFIX}${id}`
    return [text === source ? { file, text } : { file, text, source }]
  })
}

/** Returns the id of a written policy by the name of its source file; undefined for other files. */
export function writtenId(file: string): string | undefined {
  return file.startsWith(PREFIX) ? file.slice(PREFIX.length) : undefined
}

/** Replaces the source files of written policies in a text by their ids. */
export function withWrittenIds(text: string): string {
  return text.replaceAll(PREFIX, '')
}
