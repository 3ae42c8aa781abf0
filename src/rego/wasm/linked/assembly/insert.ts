import { opa_abort, opa_object_insert, opa_set_add } from './policy'
import * as layout from './value-layout'

/**
 * Code of an insert conflict for the host, in place of the address of a message (CONFLICT in
 * ordered-iteration.ts). No address is negative.
 */
const CONFLICT: usize = usize.MAX_VALUE - 1

/**
 * If rules of several lengths meet at one path, the compiled code may pass a value that is neither
 * an object nor a set, and the runtime's functions would write into it.
 */
export function insertMember(object: usize, key: usize, value: usize): void {
  if (load<u8>(object) != layout.OBJECT) opa_abort(CONFLICT)
  opa_object_insert(object, key, value)
}

export function addElement(set: usize, element: usize): void {
  if (load<u8>(set) != layout.SET) opa_abort(CONFLICT)
  opa_set_add(set, element)
}
