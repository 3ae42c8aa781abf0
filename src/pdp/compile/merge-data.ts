import { AppError } from '../../errors/app-error.js'
import { RegoObject } from '../rego/value.js'
import type { RegoValue } from '../rego/value.js'

/** A base document, where it belongs below `data`, and the file it came from. */
export interface BaseDocument {
  readonly at: readonly string[]
  readonly value: RegoValue
  readonly file: string
}

/**
 * One object of all base documents, each at its place: objects merge, and two different values for one path are an
 * `invalid` error that names both files.
 */
export function mergeData(documents: readonly BaseDocument[]): RegoObject {
  const tree = new DataTree('')
  for (const document of documents) tree.add(document)
  return tree.toObject()
}

interface Leaf {
  readonly value: RegoValue
  readonly file: string
}

class DataTree {
  /** The file that was the first to name it. */
  readonly file: string
  readonly #children = new Map<string, DataTree | Leaf>()

  constructor(file: string) {
    this.file = file
  }

  add({ at, value, file }: BaseDocument): void {
    this.#add([], at, value, file)
  }

  toObject(): RegoObject {
    return new RegoObject(
      [...this.#children].map(([key, child]) => [
        key,
        child instanceof DataTree ? child.toObject() : child.value,
      ]),
    )
  }

  #add(path: readonly string[], at: readonly string[], value: RegoValue, file: string): void {
    const [next, ...rest] = at
    // A directory may stand for a value that is no object.
    if (next !== undefined && rest.length === 0 && !isMergeable(value)) {
      this.#setLeaf(path, next, value, file)
      return
    }
    if (next !== undefined) {
      this.#childTree(path, next, file).#add([...path, next], rest, value, file)
      return
    }
    if (!(value instanceof RegoObject)) throw new AppError('invalid', `${file}: data must be an object`)
    for (const [rawKey, member] of value.entries) {
      const key = rawKey as string
      if (isMergeable(member)) this.#childTree(path, key, file).#add([...path, key], [], member, file)
      else this.#setLeaf(path, key, member, file)
    }
  }

  #childTree(path: readonly string[], key: string, file: string): DataTree {
    const present = this.#children.get(key)
    if (present instanceof DataTree) return present
    if (present !== undefined) throw conflict([...path, key], present.file, file)
    const tree = new DataTree(file)
    this.#children.set(key, tree)
    return tree
  }

  #setLeaf(path: readonly string[], key: string, value: RegoValue, file: string): void {
    const present = this.#children.get(key)
    if (present !== undefined) {
      throw conflict([...path, key], present.file, file)
    }
    this.#children.set(key, { value, file })
  }
}

/** YAML may have keys that are no strings; such an object stays as it is. */
function isMergeable(value: RegoValue): value is RegoObject {
  return value instanceof RegoObject && value.entries.every(([key]) => typeof key === 'string')
}

function conflict(path: readonly string[], first: string, second: string): AppError {
  return new AppError(
    'invalid',
    `${describe(path)} is given by both ${first} and ${second}: remove one of them`,
  )
}

function describe(path: readonly string[]): string {
  return ['data', ...path].join('.')
}
