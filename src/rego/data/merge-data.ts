import { AppError } from '../../errors/app-error.js'

/** A document in a builder's memory, with its path below `data` and its file. */
export interface PlacedDocument {
  readonly at: readonly string[]
  readonly address: number
  readonly file: string
  /** As in `DataFile`. */
  readonly edit?: 'put' | 'remove' | undefined
}

/** The operations of a builder that merging uses. */
export interface DocumentMemory {
  /** Returns the addresses of an object's members; undefined for other values. */
  readonly membersOf: (address: number) => Iterable<readonly [key: string, address: number]> | undefined
  /** Returns whether the value is an object, without reading its members. */
  readonly isObject: (address: number) => boolean
  readonly object: (members: ReadonlyMap<string, number>) => number
}

/** Called for two files with values at one path. Unless it raises, the first one counts. */
export type Conflict = (path: readonly string[], first: string, second: string) => void

/** The key of `data` itself, so that it is handled like a member. */
const ROOT = 'data'

/**
 * Merges all documents at their paths into one object and returns its address. Objects merge; two
 * different values at a path are an `invalid` error with both files. Edits replace or remove values
 * in order afterwards. Copies only objects with members from several documents.
 */
export function mergeData(
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
