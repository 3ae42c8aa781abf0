import { RegoObject } from '../rego/value.js'
import type { RegoValue } from '../rego/value.js'
import type { Builtin, BuiltinTable } from './builtin.js'
import { insertAt, removeAt, valueAt } from './json-patch/edit-document.js'
import { arrayOperand, isArray, operand } from './operands.js'
import { equalValues } from '../rego/value.js'

type Path = readonly RegoValue[]

/** RFC 6902 over Rego values: the patched document, or no result when any operation fails. */
const patch: Builtin = (args) => {
  const operations = arrayOperand(args, 1)
  // Undefined stands for the document that a removal of the root leaves.
  let document: RegoValue | undefined = operand(args, 0)
  for (const operation of operations) {
    const step: Step | undefined = operation instanceof RegoObject ? apply(document, operation) : undefined
    if (step === undefined) return undefined
    document = step.document
  }
  return document
}

interface Step {
  readonly document: RegoValue | undefined
}

function apply(document: RegoValue | undefined, operation: RegoObject): Step | undefined {
  const path = pathOf(operation, 'path')
  if (path === undefined) return undefined
  switch (operation.get('op')) {
    case 'add':
      return insert(document, path, operation.get('value'))
    case 'remove':
      return removeAt(document, path)
    case 'replace':
      return move(document, path, path, operation.get('value'))
    case 'move': {
      const from = pathOf(operation, 'from')
      return from && move(document, from, path, valueAt(document, from))
    }
    case 'copy': {
      const from = pathOf(operation, 'from')
      return from && insert(document, path, valueAt(document, from))
    }
    case 'test':
      return test(document, path, operation.get('value'))
    default:
      return undefined
  }
}

function insert(document: RegoValue | undefined, path: Path, value: RegoValue | undefined): Step | undefined {
  return value === undefined ? undefined : insertAt(document, path, value)
}

/** Takes out what stands at `from` and puts `value` at `to`. */
function move(
  document: RegoValue | undefined,
  from: Path,
  to: Path,
  value: RegoValue | undefined,
): Step | undefined {
  const removed = value === undefined ? undefined : removeAt(document, from)
  return removed && insert(removed.document, to, value)
}

function test(document: RegoValue | undefined, path: Path, wanted: RegoValue | undefined): Step | undefined {
  const value = valueAt(document, path)
  const isEqual = value !== undefined && wanted !== undefined && equalValues(value, wanted)
  return isEqual ? { document } : undefined
}

/** A JSON pointer (the leading `/` may be left out) or an array of keys. */
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
