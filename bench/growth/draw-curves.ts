/** What one server took at each size, in order; undefined where it gave no answer. */
export interface Curve {
  readonly server: string
  readonly points: readonly { readonly size: number; readonly value: number | undefined }[]
}

/** One picture: both axes are logarithmic. */
export interface Chart {
  readonly title: string
  readonly curves: readonly Curve[]
}

const [WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM] = [300, 220, 48, 30, 12, 30]
const COLOURS = ['#0b6bcb', '#c4501b', '#3a7d44', '#7b4fa3']
const TEXT = 'font-family="sans-serif" font-size="11" fill="#333"'

/** The charts beside each other as one SVG, the servers named below. */
export function drawCharts(charts: readonly Chart[]): string {
  const servers = charts[0]?.curves.map(({ server }) => server) ?? []
  const legend = servers.map((server, index) => {
    const x = LEFT + index * 150
    return `<rect x="${x}" y="${HEIGHT + 8}" width="14" height="4" fill="${COLOURS[index % COLOURS.length]}"/><text x="${x + 20}" y="${HEIGHT + 14}" ${TEXT}>${escape(server)}</text>`
  })
  const size = `width="${WIDTH * charts.length}" height="${HEIGHT + 24}"`
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} role="img"><rect ${size} fill="#fff"/>${charts
    .map((chart, index) => `<g transform="translate(${index * WIDTH} 0)">${drawChart(chart)}</g>`)
    .join('')}${legend.join('')}</svg>\n`
}

function drawChart({ title, curves }: Chart): string {
  const points = curves.flatMap(({ points: all }) => all)
  const across = axis(
    points.map(({ size }) => size),
    LEFT,
    WIDTH - RIGHT,
  )
  const up = axis(
    points.flatMap(({ value }) => value ?? []),
    HEIGHT - BOTTOM,
    TOP,
  )
  const ticks = [...new Set(points.map(({ size }) => size))].map(
    (size) =>
      `<text x="${across(size)}" y="${HEIGHT - BOTTOM + 16}" text-anchor="middle" ${TEXT}>${size}</text>`,
  )
  const rows = powersIn(points.flatMap(({ value }) => value ?? [])).map(
    (value) =>
      `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${up(value)}" y2="${up(value)}" stroke="#ddd"/><text x="${LEFT - 6}" y="${up(value) + 4}" text-anchor="end" ${TEXT}>${value}</text>`,
  )
  const lines = curves.map(({ points: own }, index) => {
    const places = own.flatMap(({ size, value }) =>
      value === undefined ? [] : [`${across(size)},${up(value)}`],
    )
    const colour = COLOURS[index % COLOURS.length]
    const dots = places.map((place) => {
      const [x, y] = place.split(',')
      return `<circle cx="${x}" cy="${y}" r="3" fill="${colour}"/>`
    })
    return `<polyline points="${places.join(' ')}" fill="none" stroke="${colour}" stroke-width="2"/>${dots.join('')}`
  })
  return `<text x="${LEFT}" y="18" font-weight="bold" ${TEXT}>${escape(title)}</text>${rows.join('')}${ticks.join('')}${lines.join('')}`
}

/** The powers of ten around and between values. */
function powersIn(values: readonly number[]): number[] {
  const [least, most] = rangeOf(values)
  return Array.from({ length: most - least + 1 }, (_, index) =>
    Number((10 ** (least + index)).toPrecision(1)),
  )
}

function axis(values: readonly number[], from: number, to: number): (value: number) => number {
  const [least, most] = rangeOf(values)
  return (value) => Math.round(from + ((Math.log10(positive(value)) - least) / (most - least)) * (to - from))
}

function rangeOf(values: readonly number[]): [number, number] {
  const logs = values.map((value) => Math.log10(positive(value)))
  const least = Math.floor(Math.min(...logs))
  return [least, Math.max(least + 1, Math.ceil(Math.max(...logs)))]
}

/** What is too small to be measured has a place at the bottom. */
function positive(value: number): number {
  return Math.max(value, 0.01)
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
