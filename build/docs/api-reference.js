/**
 * Markdown of every operation with its roles, parameters, body and responses, from the OpenAPI
 * document of the program.
 */
export function apiReference(document, notice) {
  const routes = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )
  const lines = [
    '# Operations',
    '',
    notice,
    '',
    'This page lists, for client authors, every operation of the OpenAPI document (`GET /openapi.json`) with its parameters, body and',
    'responses. [HTTP API](api.md) has the conventions.',
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
    `Roles: ${(operation['x-roles'] ?? []).join(', ') || 'none needed, or the credential that it checks'}.`,
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
          `Body: ${Object.keys(body.content)
            .map((type) => `\`${type}\``)
            .join(', ')}. ${escapeText(body.description ?? '')}`,
          '',
        ]),
    ...table(
      ['response', ''],
      Object.entries(responses)
        .filter(([, response]) => response.$ref === undefined)
        .map(([status, { description }]) => [status, escapeText(description)]),
    ),
    ...sharedResponses(responses),
  ]
}

/** Names the responses that all operations have in common and that another page explains. */
function sharedResponses(responses) {
  const shared = Object.keys(responses).filter((status) => responses[status].$ref !== undefined)
  return shared.length === 0 ? [] : [`Also ${shared.join(', ')}: [errors](api.md#errors).`]
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

/** Text with all markup escaped except code. */
function escapeText(text) {
  return text
    .replaceAll('\n', ' ')
    .split(/(`[^`]*`)/)
    .map((part) =>
      part.startsWith('`') ? part.replaceAll('|', '\\|') : part.replaceAll(/[\\*_{}[\]<>|]/g, '\\$&'),
    )
    .join('')
}
