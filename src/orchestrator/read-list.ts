import { createReadStream } from 'node:fs'

import { AppError } from '../errors/app-error.js'
import { ArraySplitter } from '../lib/json/scan/array-splitter.js'
import { MAX_NESTING, nestsDeeper } from '../lib/json/scan/nesting.js'
import { isRecord } from '../lib/validation/record.js'
import type { Definition } from './definition.js'
import { parseJson } from './refusal.js'

/** What the storage service can list. */
export type ListKind = 'applications' | 'pipelines'

/** A list that was downloaded. */
export interface ListFile {
  readonly kind: ListKind
  readonly path: string
  /** A longer definition makes the whole list unusable. */
  readonly maxDefinitionBytes: number
}

/**
 * The number of definitions in a list. Raises `unavailable` unless it is whole and every entry is an object of bearable size and
 * depth: half an answer is an error.
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

/** The definitions of a list that was checked, one after the other, so that it is never whole in memory. */
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

/** A list that cannot be read is no fault of whoever asked for it. */
function asWrongAnswer(kind: ListKind, error: unknown): unknown {
  if (!(error instanceof AppError) || error.code !== 'invalid_parameter') return error
  return new AppError('unavailable', `read all ${kind}: ${error.message}; nothing was changed`, {
    code: 'orchestrator_answer_unusable',
    cause: error,
  })
}
