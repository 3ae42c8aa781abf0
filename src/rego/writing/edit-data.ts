import { AppError } from '../../errors/app-error.js'
import type { DataEdit, DataFile } from '../data/load-data.js'
import { parseDataFile } from '../data/base-document.js'
import { printJson } from '../values/print-text.js'
import { RegoObject } from '../values/value.js'
import type { RegoValue } from '../values/value.js'
import { changeInside, documentNotFound, isArray, pathText } from './change-inside.js'
import type { DataChange } from './change-inside.js'

/** An edit of the base documents. */
interface Edit {
  readonly at: readonly string[]
  readonly edit: DataEdit
  /** The new value; undefined for a removal. */
  readonly value: () => RegoValue | undefined
  readonly file: () => DataFile
}

/** A path with its edit and those below it. */
interface Branch {
  readonly children: Map<string, Branch>
  edit: Edit | undefined
  /** The number of values that edits put below it. */
  puts: number
}

const EMPTY = new RegoObject([])

/**
 * The base documents with edits that are not loaded yet. Later edits replace those at and below
 * their paths. A patch has thousands, so that each takes the time of its path only.
 */
export class EditedData {
  readonly #base: RegoObject
  readonly #root = newBranch()
  /** In order. */
  readonly #edits = new Set<Edit>()

  constructor(base: RegoObject, edits: readonly DataFile[] = []) {
    this.#base = base
    for (const file of edits) this.apply(editOf(file))
  }

  get files(): readonly DataFile[] {
    return [...this.#edits].map(({ file }) => file())
  }

  /**
   * Returns the value at a path; undefined if there is none. An object may lack members of edits
   * below it.
   */
  valueAt(path: readonly string[]): RegoValue | undefined {
    let found: RegoValue | undefined
    this.#visit(path, (value) => {
      found = value
      return false
    })
    return found
  }

  /**
   * Returns the edit that a change of the base documents needs. Arrays are edited as a whole. Raises
   * the errors of `changeInside`, and `invalid` for a change that leaves no object at the root.
   */
  edit(change: DataChange, copied: (elements: number) => void): Edit {
    const { path, op } = change
    if (path.length === 0) return editOfRoot(change)
    let reached: RegoValue | undefined
    const length = this.#visit(path.slice(0, -1), (value) => {
      reached = value
      return isArray(value)
    })
    if (length !== -1)
      return putEdit(path.slice(0, length), changeInside(reached ?? null, change, length, copied))
    const isThere = this.valueAt(path) !== undefined
    if (op === 'add' ? !change.createsParents && !(reached instanceof RegoObject) : !isThere)
      throw documentNotFound()
    return op === 'remove' ? removeEdit(path) : putEdit(path, change.value)
  }

  apply(edit: Edit): void {
    const branch = this.#forget(edit.at)
    branch.edit = edit
    this.#edits.add(edit)
    if (edit.edit === 'put') for (const above of this.#branches(edit.at).slice(0, -1)) above.puts += 1
  }

  /**
   * Applies an edit, unless it is the removal of a value that no other edit and no file has. That
   * leaves the objects above it, as in OPA.
   */
  keep(edit: Edit): void {
    this.#forget(edit.at)
    const above = edit.at.slice(0, -1)
    if (edit.edit === 'put' || this.valueAt(edit.at) !== undefined) this.apply(edit)
    else if (this.valueAt(above) === undefined) this.apply(putEdit(above, EMPTY))
  }

  /**
   * Calls `isFound` with the value at each path from the root to `path`. Returns the length of the
   * first path for which it is true, or -1.
   */
  #visit(path: readonly string[], isFound: (value: RegoValue | undefined) => boolean): number {
    let branch: Branch | undefined = this.#root
    let value: RegoValue | undefined = this.#base
    for (let length = 0; ; length += 1) {
      if (branch?.edit !== undefined) value = branch.edit.value()
      if (isFound(branch !== undefined && branch.puts > 0 ? EMPTY : value)) return length
      const segment = path[length]
      if (segment === undefined) return -1
      value = memberOf(value, segment)
      branch = branch?.children.get(segment)
    }
  }

  /** Returns the branches from the root to a path, which it creates. */
  #branches(path: readonly string[]): Branch[] {
    const branches = [this.#root]
    let branch = this.#root
    for (const segment of path) {
      const next = branch.children.get(segment) ?? newBranch()
      branch.children.set(segment, next)
      branches.push(next)
      branch = next
    }
    return branches
  }

  /** Removes the edits at and below a path. Returns its branch. */
  #forget(path: readonly string[]): Branch {
    const branches = this.#branches(path)
    const branch = branches.at(-1) ?? this.#root
    const puts = branch.puts + (branch.edit?.edit === 'put' ? 1 : 0)
    for (const above of branches.slice(0, -1)) above.puts -= puts
    for (const edit of editsFrom(branch)) this.#edits.delete(edit)
    branch.children.clear()
    branch.edit = undefined
    branch.puts = 0
    return branch
  }
}

function newBranch(): Branch {
  return { children: new Map(), edit: undefined, puts: 0 }
}

function editsFrom({ edit, children }: Branch): Edit[] {
  const below = [...children.values()].flatMap(editsFrom)
  return edit === undefined ? below : [edit, ...below]
}

function editOfRoot({ op, value }: DataChange): Edit {
  if (op === 'remove') throw new AppError('invalid', 'storage_invalid_patch_error: root cannot be removed')
  if (!(value instanceof RegoObject))
    throw new AppError('invalid', 'storage_invalid_patch_error: root must be object')
  return putEdit([], value)
}

/** Number of elements that a patch may copy: about half a second. */
const MAX_COPIED = 20_000_000

/**
 * Applies changes to the base documents of a snapshot, all or none. Returns the edits of files with
 * which the next snapshot has them. Raises as `EditedData.edit`, and `too_large` if the changes
 * copy large arrays too often.
 */
export function editData(
  documents: { readonly data: RegoObject; readonly fileData: RegoObject },
  edits: readonly DataFile[],
  changes: readonly DataChange[],
): readonly DataFile[] {
  const current = new EditedData(documents.data)
  const stored = new EditedData(documents.fileData, edits)
  let all = 0
  for (const change of changes) {
    const edit = current.edit(change, (elements) => {
      all += elements
      if (all > MAX_COPIED)
        throw new AppError(
          'too_large',
          'the operations copy large arrays too often: send the arrays with PUT',
        )
    })
    current.apply(edit)
    stored.keep(edit)
  }
  return stored.files
}

function editOf(file: DataFile): Edit {
  const { at, edit = 'put' } = file
  const value = edit === 'put' ? once(() => parseDataFile(file.file, file.content)) : () => undefined
  return { at, edit, value, file: () => file }
}

function putEdit(at: readonly string[], value: RegoValue): Edit {
  const file = (): DataFile => ({
    ...{ file: fileOf('put', at), at, edit: 'put' as const },
    content: Buffer.from(printJson(value)),
  })
  return { at, edit: 'put', value: () => value, file }
}

function removeEdit(at: readonly string[]): Edit {
  const file = { file: fileOf('remove', at), at, edit: 'remove' as const, content: new Uint8Array() }
  return { at, edit: 'remove', value: () => undefined, file: () => file }
}

function once<A>(make: () => A): () => A {
  let made: { readonly value: A } | undefined
  return () => (made ??= { value: make() }).value
}

/** Revisions depend on the names of files, and their ends say how they are read. */
function fileOf(edit: string, at: readonly string[]): string {
  return `${edit} ${pathText(at)}.json`
}

function memberOf(value: RegoValue | undefined, segment: string): RegoValue | undefined {
  if (value instanceof RegoObject) return value.get(segment)
  return isArray(value) && /^\d+$/.test(segment) ? value[Number(segment)] : undefined
}
