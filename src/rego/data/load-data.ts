import { AppError } from '../../errors/app-error.js'
import { DataBuilder, LONGEST_TEXT_BYTES } from '../wasm/data/data-builder.js'
import { isObjectAt, membersAt } from '../wasm/data/data-image.js'
import type { DataImage } from '../wasm/data/data-image.js'
import { parseJson, toJson } from './parse-data.js'

/** The key of `data` itself, so that it is handled like a member. */
const ROOT = 'data'

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

/** A document in a builder's memory, with its path below `data` and its file. */
interface PlacedDocument {
  readonly at: readonly string[]
  readonly address: number
  readonly file: string
  /** As in `DataFile`. */
  readonly edit?: 'put' | 'remove' | undefined
}

/** The operations of a builder that merging uses. */
interface DocumentMemory {
  /** Returns the addresses of an object's members; undefined for other values. */
  readonly membersOf: (address: number) => Iterable<readonly [key: string, address: number]> | undefined
  /** Returns whether the value is an object, without reading its members. */
  readonly isObject: (address: number) => boolean
  readonly object: (members: ReadonlyMap<string, number>) => number
}

/** Called for two files with values at one path. Unless it raises, the first one counts. */
type Conflict = (path: readonly string[], first: string, second: string) => void

/**
 * Merges all documents at their paths into one object and returns its address. Objects merge; two
 * different values at a path are an `invalid` error with both files. Edits replace or remove values
 * in order afterwards. Copies only objects with members from several documents.
 */
function mergeData(
  documents: readonly PlacedDocument[],
  memory: DocumentMemory,
  conflict: Conflict = refuse,
): number {
  const merger = new DataMerger(memory, conflict)
  for (const document of documents) if (document.edit === undefined) merger.add(document)
  for (const document of documents) if (document.edit !== undefined) merger.edit(document)
  return merger.finish()
}

/** An object with members from several documents. */
interface Branch {
  /** The first file with the object. */
  readonly file: string
  readonly children: Map<string, Branch | Leaf>
}

/** A value from one document. */
interface Leaf {
  readonly file: string
  readonly address: number
}

class DataMerger {
  readonly #memory: DocumentMemory
  readonly #conflict: Conflict
  readonly #root: Branch = { file: '', children: new Map() }

  constructor(memory: DocumentMemory, conflict: Conflict) {
    this.#memory = memory
    this.#conflict = conflict
  }

  add({ at, address, file }: PlacedDocument): void {
    if (at.length === 0 && !this.#memory.isObject(address))
      throw new AppError('invalid', `${file}: data must be an object`)
    let branch: Branch | undefined = this.#root
    const path = [ROOT, ...at]
    const key = path.pop() ?? ROOT
    for (const [depth, segment] of path.entries())
      branch &&= this.#branchAt(branch, path.slice(0, depth), segment, file)
    if (branch !== undefined) this.#put(branch, path, key, { file, address })
  }

  edit({ at, address, file, edit }: PlacedDocument): void {
    let branch = this.#root
    const path = [ROOT, ...at]
    const key = path.pop() ?? ROOT
    for (const segment of path) {
      if (edit === 'remove' && !branch.children.has(segment)) return
      branch = this.#opened(branch, segment, file)
    }
    if (edit === 'remove') branch.children.delete(key)
    else branch.children.set(key, { file, address })
  }

  /** Returns the branch at a key. Another value than an object is replaced by an empty branch. */
  #opened(branch: Branch, key: string, file: string): Branch {
    const opened = this.#branchAt(branch, [], key, file, () => undefined)
    if (opened !== undefined) return opened
    const made = { file, children: new Map() }
    branch.children.set(key, made)
    return made
  }

  finish(): number {
    const whole = this.#root.children.get(ROOT)
    return whole === undefined ? this.#memory.object(new Map()) : this.#addressOf(whole)
  }

  #addressOf(node: Branch | Leaf): number {
    if ('address' in node) return node.address
    const members = [...node.children].map(([key, child]) => [key, this.#addressOf(child)] as const)
    return this.#memory.object(new Map(members))
  }

  #put(branch: Branch, path: readonly string[], key: string, leaf: Leaf): void {
    const present = branch.children.get(key)
    if (present === undefined) {
      branch.children.set(key, leaf)
      return
    }
    const members = this.#memory.membersOf(leaf.address)
    if (members === undefined) {
      this.#conflict([...path, key], present.file, leaf.file)
      return
    }
    const below = this.#branchAt(branch, path, key, leaf.file)
    if (below === undefined) return
    for (const [member, address] of members)
      this.#put(below, [...path, key], member, { file: leaf.file, address })
  }

  /**
   * Returns the branch at a key, created if absent or from the object of one document; undefined if
   * another value is there.
   */
  #branchAt(
    branch: Branch,
    path: readonly string[],
    key: string,
    file: string,
    conflict = this.#conflict,
  ): Branch | undefined {
    const present = branch.children.get(key)
    if (present !== undefined && 'children' in present) return present
    const members = present === undefined ? [] : this.#memory.membersOf(present.address)
    if (present !== undefined && members === undefined) {
      conflict([...path, key], present.file, file)
      return undefined
    }
    const owner = present?.file ?? file
    const children = new Map<string, Leaf>()
    for (const [member, address] of members ?? []) children.set(member, { file: owner, address })
    const made = { file: owner, children }
    branch.children.set(key, made)
    return made
  }
}

function refuse(path: readonly string[], first: string, second: string): never {
  throw new AppError(
    'invalid',
    `${path.join('.')} is given by both ${first} and ${second}: remove one of them`,
  )
}
