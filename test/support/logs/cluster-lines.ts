import { TemplateTable } from '../../../src/analysis/logs/grouping/template-table.js'

/** The template of each line, as id and text. */
export function clusterLines(lines: readonly string[], maxPatterns?: number): { id: number; text: string }[] {
  const table = new TemplateTable(maxPatterns)
  const rows = lines.map((line) => table.add(line))
  const { templates, idOfRow } = table.finish()
  return rows.map((row) => {
    const id = idOfRow[row]!
    return { id, text: templates[id - 1]!.text }
  })
}

/** The share of lines whose predicted group holds exactly the lines of their true group. */
export function groupingAccuracy(predicted: readonly number[], truth: readonly string[]): number {
  const groups = (labels: readonly (number | string)[]): string[] => {
    const members = new Map<number | string, number[]>()
    labels.forEach((label, line) => members.set(label, [...(members.get(label) ?? []), line]))
    const names = new Map([...members].map(([label, lines]) => [label, lines.join()]))
    return labels.map((label) => names.get(label)!)
  }
  const wanted = groups(truth)
  const right = groups(predicted).filter((group, line) => group === wanted[line]).length
  return right / truth.length
}
