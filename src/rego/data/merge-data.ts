import { AppError } from '../../errors/app-error.js'

/** A document in the memory of a builder, where it belongs below `data`, and the file it came from. */
export interface PlacedDocument {
  readonly at: readonly string[]
  readonly address: number
  readonly file: string
}

/** What merging needs of the builder in whose memory the documents are. */
export interface DocumentMemory {
  /** The addresses of the members of an object; undefined for another value. */
  readonly membersOf: (address: number) => Iterable<readonly [key: string, address: number]> | undefined
  /** The same question without reading them. */
  readonly isObject: (address: number) => boolean
  readonly object: (members: ReadonlyMap<string, number>) => number
}

/** Called for two files that give values to one path; unless it raises an error, the first one counts. */
export type Conflict = (path: readonly string[], first: string, second: string) => void

/** The member below which everything stands, so that the whole of `data` is a member like others. */
const ROOT = 'data'

/**
 * The address of one object of all documents, each at its place: objects merge, and two different values for one path are an
 * `invalid` error that names both files. Only objects that several documents have members in are written again.
 */
export function mergeData(
  documents: readonly PlacedDocument[],
  memory: DocumentMemory,
  conflict: Conflict = refuse,
): number {
  const merger = new DataMerger(memory, conflict)
  for (const document of documents) merger.add(document)
  return merger.finish()
}

/** An object that several documents may have members in. */
interface Branch {
  /** The file that was the first to name it. */
  readonly file: string
  readonly children: Map<string, Branch | Leaf>
}

/** A value as one document has it. */
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

  /** The branch at a key: made where nothing is, or of the object that one document has there; undefined over another value. */
  #branchAt(branch: Branch, path: readonly string[], key: string, file: string): Branch | undefined {
    const present = branch.children.get(key)
    if (present !== undefined && 'children' in present) return present
    const members = present === undefined ? [] : this.#memory.membersOf(present.address)
    if (present !== undefined && members === undefined) {
      this.#conflict([...path, key], present.file, file)
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
