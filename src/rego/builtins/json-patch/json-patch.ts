import type { WorkMeter } from '../../metering/work-meter.js'
import { equalValues, RegoNumber, RegoObject, RegoSet } from '../../values/value.js'
import type { RegoArray, RegoValue } from '../../values/value.js'
import { BuiltinError } from '../shared/builtin.js'
import type { Builtin, BuiltinTable } from '../shared/builtin.js'
import { lengthOf } from '../shared/call-costs.js'
import { arrayOperand, isArray, operand } from '../shared/operands.js'

/** Steps and bytes per value that is inserted. */
const VALUE_STEPS = 4
const VALUE_BYTES = 16

type Path = readonly RegoValue[]

/** Applies an RFC 6902 patch. Throws BuiltinError if any operation fails, as OPA 1.0. */
const patch: Builtin = (args, { meter }) => {
  const operations = arrayOperand(args, 1)
  // Undefined after the root was removed.
  let document: RegoValue | undefined = operand(args, 0)
  for (const operation of operations) {
    const step: Step | undefined =
      operation instanceof RegoObject ? apply(document, operation, meter) : undefined
    if (step === undefined) throw new BuiltinError('the patch cannot be applied to this document')
    document = step.document
  }
  return document
}

interface Step {
  readonly document: RegoValue | undefined
}

function apply(document: RegoValue | undefined, operation: RegoObject, meter: WorkMeter): Step | undefined {
  const path = pathOf(operation, 'path')
  if (path === undefined) return undefined
  switch (operation.get('op')) {
    case 'add':
      return insert(document, path, operation.get('value'), meter)
    case 'remove':
      return removeAt(document, path, meter)
    case 'replace':
      return move(document, path, path, operation.get('value'), meter)
    case 'move': {
      const from = pathOf(operation, 'from')
      return from && move(document, from, path, valueAt(document, from, meter), meter)
    }
    case 'copy': {
      const from = pathOf(operation, 'from')
      return from && insert(document, path, valueAt(document, from, meter), meter)
    }
    case 'test':
      return test(document, path, operation.get('value'), meter)
    default:
      return undefined
  }
}

/** Charges for the whole inserted value: copies of copies grow exponentially. */
function insert(
  document: RegoValue | undefined,
  path: Path,
  value: RegoValue | undefined,
  meter: WorkMeter,
): Step | undefined {
  if (value === undefined) return undefined
  payForValue(value, meter)
  return insertAt(document, path, value, meter)
}

function payForValue(value: RegoValue, meter: WorkMeter): void {
  meter.spend(VALUE_STEPS)
  meter.reserve(VALUE_BYTES + (typeof value === 'string' ? value.length : 0))
  if (isArray(value)) for (const member of value) payForValue(member, meter)
  else if (value instanceof RegoSet) for (const member of value.members) payForValue(member, meter)
  else if (value instanceof RegoObject) {
    for (const [key, member] of value.entries) {
      payForValue(key, meter)
      payForValue(member, meter)
    }
  }
}

/** Moves the value at `from` to `to`. */
function move(
  document: RegoValue | undefined,
  from: Path,
  to: Path,
  value: RegoValue | undefined,
  meter: WorkMeter,
): Step | undefined {
  const removed = value === undefined ? undefined : removeAt(document, from, meter)
  return removed && insert(removed.document, to, value, meter)
}

function test(
  document: RegoValue | undefined,
  path: Path,
  wanted: RegoValue | undefined,
  meter: WorkMeter,
): Step | undefined {
  const value = valueAt(document, path, meter)
  if (wanted !== undefined) meter.spend(lengthOf(wanted))
  const isEqual = value !== undefined && wanted !== undefined && equalValues(value, wanted)
  return isEqual ? { document } : undefined
}

/** A JSON pointer, whose leading `/` is optional, or an array of keys. */
function pathOf(operation: RegoObject, name: 'path' | 'from'): Path | undefined {
  const path = operation.get(name)
  if (path === undefined) return undefined
  if (isArray(path)) return path
  if (typeof path !== 'string') return undefined
  if (path === '') return []
  const steps = path.replace(/^\/+/, '').split('/')
  return steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}

export const jsonPatchBuiltins: BuiltinTable = { 'json.patch': patch }

/** Steps per key lookup, per copied member, and per character of a set's member. */
const KEY_STEPS = 10
const MEMBER_STEPS = 90
const MEMBER_CHARACTER_STEPS = 2

/** The document after an edit; undefined if its root was removed. */
interface Edited {
  readonly document: RegoValue | undefined
}
/** Edits the container at the end of a path. Returns undefined if the key does not fit. */
type EditContainer = (container: RegoValue, key: RegoValue) => RegoValue | undefined

/** Returns the value at a path: object keys, array indexes, or members of a set. */
function valueAt(document: RegoValue | undefined, path: Path, meter: WorkMeter): RegoValue | undefined {
  let value = document
  for (const key of path) {
    meter.spend(keySteps(key))
    if (value === undefined) return undefined
    value = childOf(value, key)
  }
  return value
}

/** Inserts a key, an array element (`-` is the end), or a set's member named by itself. */
function insertAt(
  document: RegoValue | undefined,
  path: Path,
  value: RegoValue,
  meter: WorkMeter,
): Edited | undefined {
  if (path.length === 0) return { document: value }
  return edit(document, path, meter, (container, key) => {
    if (container instanceof RegoObject) return new RegoObject([...container.entries, [key, value]])
    if (container instanceof RegoSet) {
      return equalValues(key, value) ? new RegoSet([...container.members, value]) : undefined
    }
    if (!isArray(container)) return undefined
    const index = indexFor(container, key)
    return index === undefined ? undefined : container.toSpliced(index, 0, value)
  })
}

/** Removes the value at a path. Returns undefined if there is none. */
function removeAt(document: RegoValue | undefined, path: Path, meter: WorkMeter): Edited | undefined {
  if (document === undefined) return undefined
  if (path.length === 0) return { document: undefined }
  return edit(document, path, meter, (container, key) => {
    if (childOf(container, key) === undefined) return undefined
    if (container instanceof RegoObject) {
      return new RegoObject(container.entries.filter(([other]) => !equalValues(other, key)))
    }
    if (container instanceof RegoSet) {
      return new RegoSet(container.members.filter((member) => !equalValues(member, key)))
    }
    if (!isArray(container)) return undefined
    const index = indexFor(container, key)
    return index === undefined ? undefined : container.toSpliced(index, 1)
  })
}

function edit(
  document: RegoValue | undefined,
  path: Path,
  meter: WorkMeter,
  change: EditContainer,
): Edited | undefined {
  if (document === undefined) return undefined
  const edited = editBelow(document, path, meter, change)
  return edited === undefined ? undefined : { document: edited }
}

function editBelow(
  container: RegoValue,
  path: Path,
  meter: WorkMeter,
  change: EditContainer,
): RegoValue | undefined {
  const [key, ...rest] = path
  if (key === undefined) return undefined
  payForCopy(container, meter)
  meter.spend(keySteps(key) + rest.length)
  if (rest.length === 0) return change(container, key)
  const child = childOf(container, key)
  const edited = child === undefined ? undefined : editBelow(child, rest, meter, change)
  return edited === undefined ? undefined : replaceChild(container, key, edited)
}

/** Every container on the path is copied and its members are sorted again. */
function payForCopy(container: RegoValue, meter: WorkMeter): void {
  if (isArray(container)) meter.spend(container.length)
  else if (container instanceof RegoObject) {
    for (const [key] of container.entries) meter.spend(MEMBER_STEPS + lengthOf(key))
  } else if (container instanceof RegoSet) {
    for (const member of container.members)
      meter.spend(MEMBER_STEPS + lengthOf(member) * MEMBER_CHARACTER_STEPS)
  }
}

function keySteps(key: RegoValue): number {
  return KEY_STEPS + lengthOf(key)
}

function childOf(container: RegoValue, key: RegoValue): RegoValue | undefined {
  if (container instanceof RegoObject) return container.get(key)
  if (container instanceof RegoSet) return container.has(key) ? key : undefined
  if (!isArray(container)) return undefined
  const index = indexFor(container, key)
  return index === undefined ? undefined : container[index]
}

function replaceChild(container: RegoValue, key: RegoValue, child: RegoValue): RegoValue | undefined {
  if (container instanceof RegoObject) return new RegoObject([...container.entries, [key, child]])
  if (container instanceof RegoSet) {
    return new RegoSet([...container.members.filter((member) => !equalValues(member, key)), child])
  }
  if (!isArray(container)) return undefined
  const index = indexFor(container, key)
  return index === undefined ? undefined : container.with(index, child)
}

/** An index up to the length: `-`, a number without a point, or plain digits. */
function indexFor(array: RegoArray, key: RegoValue): number | undefined {
  if (key === '-') return array.length
  const text = key instanceof RegoNumber ? key.text : key
  if (typeof text !== 'string' || !/^(?:\+?\d+|-0+)$/.test(text)) return undefined
  if (text !== '0' && text.startsWith('0')) return undefined
  const index = Math.abs(Number(text))
  return index <= array.length ? index : undefined
}
