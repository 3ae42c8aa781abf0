import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import process from 'node:process'

/** Every route with who may ask it, what it reads and what it answers, as Markdown, from the OpenAPI document that the built program prints. */
export function apiReference(root) {
  const text = execFileSync(process.execPath, [join(root, 'dist/cli.js'), 'openapi'], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH },
  })
  const document = JSON.parse(text)
  const routes = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )
  const lines = [
    '# Routes of the API',
    '',
    'Made of the OpenAPI document that a service shows at `GET /openapi.json`. [HTTP API](docs/reference/api.md) explains them.',
    ...document.tags.flatMap(({ name }) => [
      '',
      `## ${name}`,
      ...routes
        .filter(({ operation }) => operation.tags[0] === name)
        .flatMap((route) => sectionOf(route, document)),
    ]),
  ]
  return `${lines.join('\n')}\n`
}

function sectionOf({ method, path, operation }, document) {
  const parameters = (operation.parameters ?? []).map((each) => resolve(each, document))
  const { requestBody, responses } = operation
  const body = resolve(requestBody, document)
  return [
    '',
    `### ${method} \`${path}\``,
    '',
    `${escapeText(operation.summary)}.`,
    '',
    `May be asked by: ${(operation['x-roles'] ?? []).join(', ') || 'everybody, or who has what it checks'}.`,
    '',
    ...table(
      ['parameter', 'in', ''],
      parameters.map(({ name, in: place, description = '', schema = {} }) => [
        `\`${name}\``,
        place,
        escapeText(description) || typeOf(schema),
      ]),
    ),
    ...(body === undefined
      ? []
      : [
          `Reads ${Object.keys(body.content)
            .map((type) => `\`${type}\``)
            .join(', ')}. ${escapeText(body.description ?? '')}`,
          '',
        ]),
    ...table(
      ['answer', ''],
      Object.entries(responses).map(([status, response]) => [
        status,
        escapeText(resolve(response, document).description),
      ]),
    ),
  ]
}

function resolve(value, document) {
  if (value?.$ref === undefined) return value
  return value.$ref
    .slice(2)
    .split('/')
    .reduce((found, name) => found[name], document)
}

function typeOf({ type, enum: values }) {
  return values === undefined
    ? escapeText(String(type ?? ''))
    : values.map((value) => `\`${value}\``).join(', ')
}

function table(titles, rows) {
  if (rows.length === 0) return []
  return [
    `| ${titles.join(' | ')} |`,
    `|${titles.map(() => '---|').join('')}`,
    ...rows.map((cells) => `| ${cells.join(' | ')} |`),
    '',
  ]
}

/** Text of the document, in which nothing but code is markup. */
function escapeText(text) {
  return text
    .replaceAll('\n', ' ')
    .split(/(`[^`]*`)/)
    .map((part) =>
      part.startsWith('`') ? part.replaceAll('|', '\\|') : part.replaceAll(/[\\*_{}[\]<>|]/g, '\\$&'),
    )
    .join('')
}
