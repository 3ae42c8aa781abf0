import { createReadStream } from 'node:fs'

import { AppError } from '../errors/app-error.js'
import { ArraySplitter } from '../lib/json/scan/array-splitter.js'
import { MAX_NESTING, nestsDeeper } from '../lib/json/scan/nesting.js'
import { isRecord } from '../lib/validation/record.js'
import type { Definition } from './definition.js'
import { parseJson } from '../lib/json/text/parse-json.js'

/** Kinds of lists of the storage service. */
export type ListKind = 'applications' | 'pipelines'

/** A downloaded list. */
export interface ListFile {
  readonly kind: ListKind
  readonly path: string
  /** A longer definition makes the whole list unusable. */
  readonly maxDefinitionBytes: number
}

/**
 * Returns the number of definitions in a list. Raises `unavailable` unless it is complete and every
 * entry is an object within the limits of size and depth.
 */
export async function checkList(list: ListFile): Promise<number> {
  const splitter = new ArraySplitter(list.maxDefinitionBytes)
  let count = 0
  try {
    for await (const piece of piecesOf(list)) count += splitter.push(piece).map(parseDefinition).length
    splitter.end()
    return count
  } catch (error) {
    throw asWrongAnswer(list.kind, error)
  }
}

/** Iterates over the definitions of a checked list, so that it is never in memory as a whole. */
export async function* readList(list: ListFile): AsyncGenerator<Definition> {
  const splitter = new ArraySplitter(list.maxDefinitionBytes)
  for await (const piece of piecesOf(list)) {
    for (const json of splitter.push(piece)) yield parseDefinition(json)
  }
}

function piecesOf({ path }: ListFile): AsyncIterable<Buffer> {
  return createReadStream(path)
}

function parseDefinition(json: Buffer): Definition {
  const text = json.toString()
  if (nestsDeeper(text, MAX_NESTING)) {
    throw new AppError('invalid', `the list has an entry that is nested more than ${MAX_NESTING} levels deep`)
  }
  const value = parseJson(text)
  if (isRecord(value)) return value
  throw new AppError('invalid', 'the list has an entry that is no JSON object')
}

/** An unreadable list is not the caller's fault. */
function asWrongAnswer(kind: ListKind, error: unknown): unknown {
  if (!(error instanceof AppError) || error.code !== 'invalid_parameter') return error
  return new AppError('unavailable', `read all ${kind}: ${error.message}; nothing was changed`, {
    code: 'orchestrator_answer_unusable',
    cause: error,
  })
}
