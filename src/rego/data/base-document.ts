import { MAX_DEPTH, scanValue } from '../../lib/json/scan/scan-value.js'
import type { RegoObject, RegoValue } from '../values/value.js'
import { dataOf, valueAt } from '../wasm/data/data-image.js'
import { DataBuilder } from '../wasm/data/data-builder.js'
import { loadData } from './load-data.js'
import type { DataFile, LoadedData } from './load-data.js'
import { naming, parseJson, toJson } from './parse-data.js'

/** A base document with its path below `data` and its file. */
export interface BaseDocument {
  readonly at: readonly string[]
  readonly value: RegoValue
  readonly file: string
}

/** The base documents of one part of a load. */
export interface PartData {
  /** All of them together. */
  readonly data: RegoObject
  readonly documents: readonly BaseDocument[]
}

/** An address that no module uses. */
const ANY_BASE = 65_536

/** Returns the base documents of data files. Raises as `loadData`. */
export function readData(files: readonly DataFile[]): PartData {
  return partData(loadData([files], ANY_BASE), 0, files)
}

/** Returns the data of one part of a load. */
export function partData({ image, parts }: LoadedData, place: number, files: readonly DataFile[]): PartData {
  const { root, documents = [] } = parts[place] ?? {}
  const data = dataOf({ ...image, root: root ?? image.root })
  // An edit may have removed any part of the files' documents.
  if (files.some(({ edit }) => edit !== undefined))
    return { data, documents: [{ at: [], file: 'the stored data', value: data }] }
  return {
    data,
    documents: files.map(({ at, file }, index) => ({
      at,
      file,
      value: valueAt(image, documents[index] ?? image.root),
    })),
  }
}

/**
 * Returns the value of a data file, of any type, with at most `maxLevels` levels. Raises `invalid`,
 * naming the file.
 */
export function parseDataFile(file: string, content: Uint8Array, maxLevels = MAX_DEPTH): RegoValue {
  const json = toJson(file, content)
  if (maxLevels < MAX_DEPTH) naming(file, () => scanValue(json, 0, MAX_DEPTH - maxLevels))
  const builder = new DataBuilder(json.length, ANY_BASE)
  const address = parseJson(builder, file, json)
  return valueAt(builder.view, address)
}
