import { opa_object, opa_value_shallow_copy } from './policy'
import * as layout from './value-layout'

/**
 * Target of `with input.a as …`: a copy of the object, or a new one in place of any other value.
 * The runtime's own function copies a string or array, into which the compiled code then writes as
 * if it were an object.
 */
export function copyObject(value: usize): usize {
  return load<u8>(value) == layout.OBJECT ? opa_value_shallow_copy(value) : opa_object()
}
