/** The last function or rule of a graph: plain arithmetic, or a built-in of the host. */
const LEAVES = [
  ...['x', 'x % 7', 'abs(x - 3)'],
  ...['count(sprintf("%d", [x]))', 'count(crypto.sha256(sprintf("%d", [x])))', 'count(time.format(x))'],
  ...['count(json.marshal({"a": [x]}))', 'count(uuid.rfc4122(sprintf("%d", [x % 1000])))'],
  ...['count(regex.replace(sprintf("%d", [x]), "1+", "2"))', 'count(yaml.marshal({"a": x}))'],
  ...['count(numbers.range(0, 5))', 'count(graph.reachable({"a": ["b"], "b": ["a"]}, ["a"]))'],
  ...['count(object.union_n([{"a": x}, {"b": x}]))', 'count(json.patch({"a": x}, []))'],
] as const

/** Bodies that evaluate NEXT, each time with another ARG, and give `y`. */
const BODIES = [
  'y := NEXT + NEXT',
  'y := NEXT + NEXT + NEXT',
  'y := NEXT',
  'a := NEXT\n\tb := NEXT\n\ty := a + b',
  'y := count([v | some k in [1, 2]; v := NEXT + k])',
  'y := count({v | some k in [1, 2]; v := NEXT + k})',
  'y := count({k: v | some k in [1, 2]; v := NEXT})',
  'every k in [1, 2] {\n\t\tNEXT + k >= 0\n\t}\n\ty := 1',
  'not NEXT < 0\n\tnot NEXT < 0\n\ty := 2',
  'NEXT >= 0\n\tNEXT >= 0\n\ty := x',
  'a := NEXT with input.n as x + 1\n\tb := NEXT with input.n as x + 2\n\ty := a + b',
  'y := sum([v | v := [NEXT, NEXT][_]])',
] as const
const ARGUMENTS = ['x', 'x + 1', 'x * 2', 'x + 3'] as const
const MAX_LEVELS = 44
/** How many of a graph's definitions are functions: rules without `with` are evaluated once. */
const FUNCTION_SHARES = [0.5, 0.9, 1] as const

/**
 * Returns a package with a rule `answer` over functions and rules, each of which evaluates the next
 * one up to four times. Most such graphs are too much for any budget: every level doubles the work.
 */
export function callGraph(packageName: string, random: () => number): string {
  const place = (length: number): number => Math.floor(random() * length)
  const oneOf = (list: readonly string[]): string => list[place(list.length)] ?? ''
  const levels = 2 + place(MAX_LEVELS - 1)
  const share = FUNCTION_SHARES[place(FUNCTION_SHARES.length)] ?? 1
  const functions = Array.from({ length: levels + 1 }, () => random() < share)
  const next = (level: number): string => (functions[level] ? `n${level}(${oneOf(ARGUMENTS)})` : `n${level}`)
  const define = (level: number, body: string): string => {
    if (functions[level]) return `n${level}(x) := y if {\n\t${body}\n}`
    if (random() < 0.7) return `n${level} := y if {\n\tx := input.n\n\t${body}\n}`
    return `p${level} contains y if {\n\tx := input.n\n\t${body}\n}\n\nn${level} := sum(p${level})`
  }
  const rules = functions.map((_, level) => {
    if (level === levels) return define(level, `y := ${oneOf(LEAVES)}`)
    const body = (): string => oneOf(BODIES).replaceAll('NEXT', () => next(level + 1))
    const first = define(level, body())
    if (random() < 0.2 && first.startsWith('n')) return `${first} else := y if {\n\t${elseBody(level)}\n}`
    return first
  })
  function elseBody(level: number): string {
    return `${functions[level] ? '' : 'x := input.n\n\t'}${oneOf(BODIES).replaceAll('NEXT', () => next(level + 1))}`
  }
  const answer = `answer := y if {\n\tx := input.n\n\ty := ${next(0)}\n}`
  return `package ${packageName}\n\nimport rego.v1\n\n${[answer, ...rules].join('\n\n')}\n`
}
