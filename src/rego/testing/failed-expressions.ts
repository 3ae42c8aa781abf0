/** A failed expression as OPA prints it, with the value of each variable in the lines below it. */
export interface FailedExpression {
  readonly file: string
  readonly row: number
  readonly text: string
}

/** `data.p_test.test_x: FAIL (1.2ms)` */
const TITLE = /^data\.?(?<test>.*): (?:FAIL|ERROR) \([^)]*\)$/
/** `  p_test.rego:8:` */
const LOCATION = /^\s+(?<file>\S.*):(?<row>\d+):$/
/** A case of a test (OPA 1.2): `  large: FAIL` */
const CASE = /^\s+\S.*: (?:PASS|FAIL)$/

/**
 * Returns the failed expressions by test, such as `p_test.test_x`, from the text of `opa test
 * --var-values`. They are in its section FAILURES; the other lines are a summary and printed
 * output.
 */
export function parseFailures(
  printed: string,
  toSource: (file: string) => string,
): Map<string, FailedExpression[]> {
  const byTest = new Map<string, FailedExpression[]>()
  let expressions: FailedExpression[] = []
  let lines: string[] | undefined
  let location = { file: '', row: 0 }
  const endExpression = (): void => {
    if (lines !== undefined) expressions.push({ ...location, text: withoutIndent(lines) })
    lines = undefined
  }
  for (const line of failuresOf(printed)) {
    const test = TITLE.exec(line)?.groups?.['test']
    const { file, row } = LOCATION.exec(line)?.groups ?? {}
    if (test !== undefined) {
      endExpression()
      byTest.set(test, (expressions = []))
    } else if (file !== undefined) {
      endExpression()
      location = { file: toSource(file), row: Number(row) }
      lines = []
    } else if (CASE.test(line)) endExpression()
    else lines?.push(line)
  }
  endExpression()
  return byTest
}

/** Returns the lines of the section FAILURES, without its rulers. */
function failuresOf(printed: string): string[] {
  const lines = printed.split('\n')
  const from = lines.indexOf('FAILURES')
  if (from < 0) return []
  const rest = lines.slice(from + 1)
  const end = rest.findIndex(
    (line) => line === 'SUMMARY' || /^(?:PASS|FAIL|ERROR|SKIPPED): \d+\/\d+$/.test(line),
  )
  return rest.slice(0, end < 0 ? undefined : end).filter((line) => !/^-{20,}$/.test(line))
}

/** Removes the common indentation and blank lines at both ends. */
function withoutIndent(lines: readonly string[]): string {
  const shown = lines.map((line) => line.trimEnd())
  const indents = shown.filter((line) => line !== '').map((line) => /^\s*/.exec(line)?.[0].length ?? 0)
  const indent = Math.min(...indents)
  return shown
    .map((line) => line.slice(indent))
    .join('\n')
    .replace(/^\n+|\n+$/g, '')
}
