/** The functions that are linked into every policy module. */
export { copyObject } from './copy-object'
export { elementAt } from './element-at'
export { addElement, insertMember } from './insert'
export { callSite, keepNext, nextKey, setNotes } from './iterate'
export { numberHash } from './number-hash'
export { notesBytes } from './sorted-keys'
