import type { WorkMeter } from '../metering/work-meter.js'
import { RegoNumber, RegoObject, RegoSet, typeName, equalValues } from '../values/value.js'
import type { RegoArray, RegoValue } from '../values/value.js'
import { BuiltinError } from './shared/builtin.js'
import type { BuiltinContext, BuiltinTable, Builtin } from './shared/builtin.js'
import { lengthOf } from './shared/call-costs.js'
import { isArray, objectOperand, operand } from './shared/operands.js'

type Args = readonly RegoValue[]

/** Steps of one move to a neighbour, and steps and bytes per vertex of a result path. */
const MOVE_STEPS = 50
const VERTEX_STEPS = 60
const VERTEX_BYTES = 64

/** Graphs are objects that map a vertex to the array or set of its neighbours. */
export const graphBuiltins: BuiltinTable = {
  'graph.reachable_paths': reachablePaths,
}

/** Returns the paths from the given vertices to a dead end or to a repeated vertex. */
function reachablePaths(args: Args, { meter }: BuiltinContext): RegoValue {
  const graph = objectOperand(args, 0)
  const initial = operand(args, 1)
  if (!isArray(initial) && !(initial instanceof RegoSet)) {
    throw new BuiltinError(`operand 2 must be {array, set} but got ${typeName(initial)}`, 'eval_type_error')
  }
  const search = new PathSearch(graph, meter)
  for (const vertex of neighbours(initial)) search.runFrom(vertex)
  return new RegoSet(search.paths)
}

/** A path as a linked list from its last vertex, so that paths share prefixes. */
interface PathEnd {
  readonly vertex: RegoValue
  readonly before: PathEnd | undefined
}

interface Stop {
  readonly path: PathEnd
  readonly neighbours: RegoArray
  next: number
  /** The number of the vertex, if the path visits it for the first time. */
  readonly number: number | undefined
}

/** Depth-first search with its own stack: paths may exceed the JavaScript call stack. */
class PathSearch {
  readonly paths: RegoValue[] = []
  readonly #graph: RegoObject
  readonly #vertexNumbers: RegoObject
  /** The vertices of the current path. */
  readonly #onPath = new Set<number>()
  readonly #meter: WorkMeter

  constructor(graph: RegoObject, meter: WorkMeter) {
    this.#graph = graph
    this.#meter = meter
    this.#vertexNumbers = new RegoObject(graph.entries.map(([vertex], i) => [vertex, RegoNumber.of(i)]))
  }

  runFrom(vertex: RegoValue): void {
    const edges = this.#graph.get(vertex)
    if (edges === undefined) return
    const path = { vertex, before: undefined }
    const next = neighbours(edges)
    if (next.length === 0) this.#add([vertex])
    this.#onPath.clear()
    this.#onPath.add(this.#numberOf(vertex))
    for (const neighbour of next) this.#follow(neighbour, path)
  }

  #follow(start: RegoValue, path: PathEnd): void {
    const stops: Stop[] = []
    this.#enter(start, path, stops)
    for (let stop = stops.at(-1); stop !== undefined; stop = stops.at(-1)) {
      const neighbour = stop.neighbours[stop.next++]
      this.#meter.spend(MOVE_STEPS + (neighbour === undefined ? 0 : lengthOf(neighbour)))
      if (neighbour === undefined) {
        stops.pop()
        if (stop.number !== undefined) this.#onPath.delete(stop.number)
      } else if (this.#onPath.has(this.#numberOf(neighbour))) this.#add(toVertices(stop.path))
      else this.#enter(neighbour, stop.path, stops)
    }
  }

  /** A vertex that is not in the graph ends the path before it. */
  #enter(vertex: RegoValue, before: PathEnd, stops: Stop[]): void {
    const edges = this.#graph.get(vertex)
    if (edges === undefined) {
      this.#add(toVertices(before))
      return
    }
    const path = { vertex, before }
    const next = neighbours(edges)
    if (next.length === 0) {
      this.#add(toVertices(path))
      return
    }
    const number = this.#numberOf(vertex)
    const isNew = !this.#onPath.has(number)
    this.#onPath.add(number)
    stops.push({ path, neighbours: next, next: 0, number: isNew ? number : undefined })
  }

  #add(path: RegoArray): void {
    // Paths are compared by the text of all their vertices.
    const length = path.reduce((sum: number, vertex) => sum + lengthOf(vertex), 0)
    this.#meter.spend(path.length * VERTEX_STEPS + length)
    this.#meter.reserve(path.length * VERTEX_BYTES + length)
    this.paths.push(path)
  }

  /** Returns -1 for a vertex that is not in the graph. */
  #numberOf(vertex: RegoValue): number {
    const number = this.#vertexNumbers.get(vertex)
    return number instanceof RegoNumber ? number.toNumber() : -1
  }
}

function neighbours(edges: RegoValue): RegoArray {
  if (isArray(edges)) return edges
  return edges instanceof RegoSet ? edges.members : []
}

function toVertices(path: PathEnd): RegoValue[] {
  const vertices: RegoValue[] = []
  for (let end: PathEnd | undefined = path; end !== undefined; end = end.before) vertices.push(end.vertex)
  return vertices.reverse()
}

const subset: Builtin = (args) => {
  const [whole, part] = [operand(args, 0), operand(args, 1)]
  const result = containsPart(whole, part)
  if (result !== undefined) return result
  throw new BuiltinError(
    'both arguments object.subset must be of the same type or array and set',
    'eval_type_error',
  )
}

/** Returns true if `whole` contains `part`; undefined if their types are not comparable. */
function containsPart(whole: RegoValue, part: RegoValue): boolean | undefined {
  if (whole instanceof RegoObject && part instanceof RegoObject) return holdsObject(whole, part)
  if (whole instanceof RegoSet && part instanceof RegoSet) {
    return part.members.every((member) => whole.has(member))
  }
  if (isArray(whole) && isArray(part)) return holdsRun(whole, part)
  if (isArray(whole) && part instanceof RegoSet) return holdsMembers(whole, part)
  return undefined
}

/** Compares the values of objects recursively. Members of arrays and sets must be equal. */
function holdsObject(whole: RegoObject, part: RegoObject): boolean {
  return part.entries.every(([key, wanted]) => {
    const value = whole.get(key)
    if (value === undefined) return false
    const isContainerPair =
      (value instanceof RegoObject && wanted instanceof RegoObject) ||
      (value instanceof RegoSet && wanted instanceof RegoSet) ||
      (isArray(value) && isArray(wanted))
    return isContainerPair ? containsPart(value, wanted) === true : equalValues(value, wanted)
  })
}

/** Returns true if `part` is a contiguous run in `whole` (Knuth-Morris-Pratt search). */
function holdsRun(whole: RegoArray, part: RegoArray): boolean {
  const fallbacks = fallbacksOf(part)
  let matched = 0
  for (const value of whole) {
    if (matched === part.length) break
    while (matched > 0 && !equalValues(value, part[matched] ?? null)) matched = fallbacks[matched - 1] ?? 0
    if (equalValues(value, part[matched] ?? null)) matched++
  }
  return matched === part.length
}

/** Returns the longest shorter match that ends at the same position, for each length. */
function fallbacksOf(part: RegoArray): readonly number[] {
  const fallbacks = [0]
  let matched = 0
  for (const value of part.slice(1)) {
    while (matched > 0 && !equalValues(value, part[matched] ?? null)) matched = fallbacks[matched - 1] ?? 0
    if (equalValues(value, part[matched] ?? null)) matched++
    fallbacks.push(matched)
  }
  return fallbacks
}

function holdsMembers(whole: RegoArray, part: RegoSet): boolean {
  // OPA returns false for two empty collections.
  if (whole.length === 0) return false
  const members = new RegoSet(whole)
  return part.members.every((member) => members.has(member))
}

export const objectSubsetBuiltins: BuiltinTable = { 'object.subset': subset }
