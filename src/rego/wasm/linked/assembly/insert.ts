import { opa_abort, opa_object_insert, opa_set_add } from './policy'
import * as layout from './value-layout'

/** What the host is told instead of a text (CONFLICT in ordered-iteration.ts): no address is negative. */
const CONFLICT: usize = usize.MAX_VALUE - 1

/**
 * Where rules of several lengths meet at one path, the compiled code may have another value where it means an object or a set, and
 * the runtime's functions would write into that as if it were one.
 */
export function insertMember(object: usize, key: usize, value: usize): void {
  if (load<u8>(object) != layout.OBJECT) opa_abort(CONFLICT)
  opa_object_insert(object, key, value)
}

export function addElement(set: usize, element: usize): void {
  if (load<u8>(set) != layout.SET) opa_abort(CONFLICT)
  opa_set_add(set, element)
}
