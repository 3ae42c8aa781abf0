const KB = 1024
const MB = 1024 * KB
/** Just within what a source may answer by default. */
const ANSWER_BYTES = 15.5 * MB
const FIRST_SECOND = Date.parse('2026-03-01T00:00:00.000Z') / 1000

/** What a server answers each query with that wants to cost as much as it can. */
export interface HostileAnswer {
  readonly name: string
  readonly type: 'prometheus' | 'loki'
  readonly body: () => Buffer
  /** Goes on after the body without an end. */
  readonly isEndless?: boolean
}

/** Answers as large as they may be, each of another kind. */
export const HOSTILE_ANSWERS: readonly HostileAnswer[] = [
  {
    name: '12,000 warnings of 1 KB',
    type: 'prometheus',
    body: () => {
      const warnings = Array.from({ length: 12_000 }, (_, index) => `${index} ${'w'.repeat(KB)}`)
      return Buffer.from(JSON.stringify({ status: 'success', data: matrix([]), warnings }))
    },
  },
  {
    name: '15 MB of series with one value',
    type: 'prometheus',
    body: () => ofSeries((index) => ({ metric: { pod: `p${index}` }, values: [[FIRST_SECOND, '1']] })),
  },
  {
    name: '100,000 series without values',
    type: 'prometheus',
    body: () => {
      const result = Array.from({ length: 100_000 }, (_, index) => ({ metric: { pod: `p${index}` } }))
      return Buffer.from(JSON.stringify({ status: 'success', data: matrix(result) }))
    },
  },
  {
    name: '15 MB of values, each its own text',
    type: 'prometheus',
    body: () =>
      ofSeries((index) => ({
        metric: { pod: `p${index}` },
        values: Array.from({ length: 1000 }, (_, at) => [FIRST_SECOND + at, `${index}.${at}`]),
      })),
  },
  {
    name: 'labels of 1 MB in no Latin script',
    type: 'prometheus',
    body: () => ofSeries((index) => ({ metric: { pod: `${index}${'長'.repeat(MB / 3)}` }, values: [] })),
  },
  {
    name: 'an answer without an end',
    type: 'prometheus',
    body: () => Buffer.alloc(MB, ' '),
    isEndless: true,
  },
  {
    name: 'lines of 3 KB in no Latin script',
    type: 'loki',
    body: () => {
      const values = Array.from({ length: 5000 }, (_, index) => [
        `${FIRST_SECOND * 1e9 + index}`.padEnd(19, '0'),
        `${index}${'長'.repeat(KB)}`,
      ])
      const data = { resultType: 'streams', result: [{ stream: { pod: 'p' }, values }] }
      return Buffer.from(JSON.stringify({ status: 'success', data }))
    },
  },
]

function matrix(result: readonly unknown[]): object {
  return { resultType: 'matrix', result }
}

/** As many series as fit into an answer. */
function ofSeries(series: (index: number) => object): Buffer {
  const texts: string[] = []
  for (let bytes = 0; bytes < ANSWER_BYTES;) {
    const text = JSON.stringify(series(texts.length))
    bytes += Buffer.byteLength(text) + 1
    if (bytes < ANSWER_BYTES) texts.push(text)
  }
  return Buffer.from(`{"status":"success","data":{"resultType":"matrix","result":[${texts.join(',')}]}}`)
}
