import { AppError } from '../../errors/app-error.js'
import type { DataFile } from '../data/load-data.js'
import { parseDataFile } from '../data/base-document.js'
import { printJson } from '../values/print-text.js'
import { RegoObject } from '../values/value.js'
import type { RegoValue } from '../values/value.js'
import { changeInside, documentNotFound, isArray, pathText } from './change-inside.js'
import type { DataChange } from './change-inside.js'

/** The base documents with edits that are not loaded yet. */
export class EditedData {
  readonly #base: RegoObject
  readonly #edits: readonly DataFile[]

  constructor(base: RegoObject, edits: readonly DataFile[] = []) {
    this.#base = base
    this.#edits = edits
  }

  /**
   * Returns the value at a path; undefined if there is none. An object may lack members of edits
   * below it.
   */
  valueAt(path: readonly string[]): RegoValue | undefined {
    for (const edit of this.#edits.toReversed()) {
      if (isAtOrBelow(path, edit.at)) {
        const value = edit.edit === 'remove' ? undefined : parseDataFile(edit.file, edit.content)
        return memberAt(value, path.slice(edit.at.length))
      }
      if (edit.edit === 'put' && isAtOrBelow(edit.at, path)) return EMPTY
    }
    return memberAt(this.#base, path)
  }

  /**
   * Returns the edit that a change of the base documents needs. Arrays are edited as a whole. Raises
   * the errors of `changeInside`, and `invalid` for a change that leaves no object at the root.
   */
  edit(change: DataChange): DataFile {
    const { path, op } = change
    if (path.length === 0) return editOfRoot(change)
    const array = path.findIndex((_, length) => isArray(this.valueAt(path.slice(0, length))))
    if (array !== -1) {
      const at = path.slice(0, array)
      return putEdit(at, changeInside(this.valueAt(at) ?? null, change, array))
    }
    const isThere = this.valueAt(path) !== undefined
    const parent = this.valueAt(path.slice(0, -1))
    if (op === 'add' ? !change.createsParents && !(parent instanceof RegoObject) : !isThere)
      throw documentNotFound()
    return op === 'remove' ? removeEdit(path) : putEdit(path, change.value)
  }
}

const EMPTY = new RegoObject([])

function editOfRoot({ op, value }: DataChange): DataFile {
  if (op === 'remove') throw new AppError('invalid', 'storage_invalid_patch_error: root cannot be removed')
  if (!(value instanceof RegoObject))
    throw new AppError('invalid', 'storage_invalid_patch_error: root must be object')
  return putEdit([], value)
}

/**
 * Applies changes to the base documents of a snapshot, all or none. Returns the edits of files with
 * which the next snapshot has them. Raises as `EditedData.edit`.
 */
export function editData(
  documents: { readonly data: RegoObject; readonly fileData: RegoObject },
  edits: readonly DataFile[],
  changes: readonly DataChange[],
): readonly DataFile[] {
  const made: DataFile[] = []
  for (const change of changes) made.push(new EditedData(documents.data, made).edit(change))
  return made.reduce((known, edit) => withEdit(documents.fileData, known, edit), edits)
}

/**
 * Adds an edit. Edits at and below its path have no effect any more. The removal of a value that no
 * other edit and no file has leaves the objects above it, as in OPA.
 */
function withEdit(fileData: RegoObject, edits: readonly DataFile[], edit: DataFile): readonly DataFile[] {
  const others = edits.filter(({ at }) => !isAtOrBelow(at, edit.at))
  const data = new EditedData(fileData, others)
  if (edit.edit === 'put' || data.valueAt(edit.at) !== undefined) return [...others, edit]
  const above = edit.at.slice(0, -1)
  return data.valueAt(above) === undefined ? [...others, putEdit(above, EMPTY)] : others
}

function putEdit(at: readonly string[], value: RegoValue): DataFile {
  return { file: fileOf('put', at), at, edit: 'put', content: Buffer.from(printJson(value)) }
}

function removeEdit(at: readonly string[]): DataFile {
  return { file: fileOf('remove', at), at, edit: 'remove', content: new Uint8Array() }
}

/** Revisions depend on the names of files, and their ends say how they are read. */
function fileOf(edit: string, at: readonly string[]): string {
  return `${edit} ${pathText(at)}.json`
}

function isAtOrBelow(path: readonly string[], above: readonly string[]): boolean {
  return path.length >= above.length && above.every((segment, place) => path[place] === segment)
}

function memberAt(value: RegoValue | undefined, path: readonly string[]): RegoValue | undefined {
  let reached = value
  for (const segment of path) {
    if (reached instanceof RegoObject) reached = reached.get(segment)
    else if (isArray(reached)) reached = /^\d+$/.test(segment) ? reached[Number(segment)] : undefined
    else return undefined
  }
  return reached
}
