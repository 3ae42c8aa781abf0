import { AppError } from '../../errors/app-error.js'
import { DataBuilder, LONGEST_TEXT_BYTES } from '../wasm/data/data-builder.js'
import { isObjectAt, membersAt } from '../wasm/data/data-image.js'
import type { DataImage } from '../wasm/data/data-image.js'
import { mergeData } from './merge-data.js'
import { parseJson, toJson } from './parse-data.js'

/** A data file with the path of its document below `data`. */
export interface DataFile {
  readonly file: string
  readonly at: readonly string[]
  readonly content: Uint8Array
  /**
   * Set for a change of the documents of all files: the document replaces or removes the value at
   * its path. Changes apply in order. The content of a removal is empty.
   */
  readonly edit?: DataEdit
}

export type DataEdit = 'put' | 'remove'

/** The base documents of a load, as plain data. */
export interface LoadedData {
  /** All of them together. */
  readonly image: DataImage
  /** The address of all of them without edits; absent if there are none. */
  readonly unedited?: number
  /** The addresses of the parts' data, in the order of the parts. */
  readonly parts: readonly LoadedPart[]
}

export interface LoadedPart {
  /** The merged documents of the part, with edits. */
  readonly root: number
  readonly documents: readonly number[]
}

/**
 * Reads and merges the data files of all parts into one image for the address `base`. Raises
 * `invalid`, naming the files, for a malformed or too large file, and for two files of a part with
 * values at the same path. If two parts have a value at a path, one of them is used.
 */
export function loadData(parts: readonly (readonly DataFile[])[], base: number): LoadedData {
  for (const { file, content } of parts.flat()) refuseTooLong(file, content.length)
  const texts = parts.map((files) =>
    files.map(({ file, at, content, edit }) => ({
      ...{ file, at, edit },
      json: edit === 'remove' ? NULL : toJson(file, content),
    })),
  )
  const lengths = texts.flat().map(({ json }) => json.length)
  const builder = new DataBuilder(Math.max(0, ...lengths), base)
  const memory = {
    membersOf: (address: number) => membersAt(builder.view, address),
    isObject: (address: number) => isObjectAt(builder.view, address),
    object: (members: ReadonlyMap<string, number>) => builder.object(members),
  }
  const loaded = texts.map((files) => {
    const documents = files.map(({ json, ...file }) => ({
      ...file,
      address: parseJson(builder, file.file, json),
    }))
    const plain = documents.filter(({ edit }) => edit === undefined)
    return {
      root: mergeData(documents, memory),
      unedited: plain.length === documents.length ? undefined : mergeData(plain, memory),
      documents: documents.map(({ address }) => address),
    }
  })
  const mergeRoots = (roots: readonly number[]): number =>
    mergeData(
      roots.map((address) => ({ file: '', at: [], address })),
      memory,
      () => undefined,
    )
  const root = mergeRoots(loaded.map((part) => part.root))
  const unedited = loaded.some((part) => part.unedited !== undefined)
    ? mergeRoots(loaded.map((part) => part.unedited ?? part.root))
    : undefined
  return {
    image: builder.finish(root),
    parts: loaded.map(({ root: own, documents }) => ({ root: own, documents })),
    ...(unedited !== undefined && { unedited }),
  }
}

/** Stands for the document of a removal, which is never read. */
const NULL = Buffer.from('null')

function refuseTooLong(file: string, bytes: number): void {
  if (bytes <= LONGEST_TEXT_BYTES) return
  throw new AppError(
    'invalid',
    `${file} has ${bytes} bytes, and a data file may have ${LONGEST_TEXT_BYTES}: give parts of it to a data.json each, in directories named as their paths below data`,
  )
}
