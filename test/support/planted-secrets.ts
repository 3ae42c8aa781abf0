/** What stands in every planted secret. */
export const SECRET = 'hunter2Zz9'

const jwtPart = Buffer.from('{"alg":"HS256"}').toString('base64url')

/** Secrets of each kind, as callers write them: what it is, and the value that holds it. */
export const PLANTED: readonly (readonly [string, unknown])[] = [
  ['a password', { password: SECRET }],
  ['a token in capitals', { DB_ACCESS_TOKEN: SECRET }],
  ['a number that is a secret', { pipelineSecret: [`1${SECRET}`] }],
  ['a key of an API', { headers: { 'X-Api-Key': SECRET } }],
  ['a header of its own', { requestHeaders: { 'X-Auth': SECRET } }],
  ['an authorization', { Authorization: `Basic ${SECRET}` }],
  ['a cookie', { cookie: `sid=${SECRET}` }],
  ['a parameter in a list', { parameters: [{ name: 'password', value: SECRET }] }],
  ['a parameter with its value first', { parameters: [{ default: SECRET, name: 'db_password' }] }],
  ['a Kubernetes Secret', { apiVersion: 'v1', data: { x: SECRET }, kind: 'Secret' }],
  ['a URL with a password', { repo: `https://ana:${SECRET}@git.example.org/a` }],
  ['a URL with a token', { repo: `https://${SECRET}@git.example.org/a` }],
  ['a URL of a database', { url: `postgres://ana:${SECRET}@db:5432/x` }],
  ['a token in a query', { url: `https://example.org/x?access_token=${SECRET}&a=b` }],
  ['a signature in a query', { url: `https://example.org/x?a=b&X-Amz-Signature=${SECRET}` }],
  ['a connection', { text: `Server=db;Uid=ana;Password=${SECRET};` }],
  ['a bearer in a text', { command: `curl -H "Authorization: Bearer ${SECRET}" x` }],
  ['a bearer alone', { text: `Bearer ${SECRET}` }],
  ['a password in YAML', { template: `user: ana\npassword: ${SECRET}\n` }],
  ['JSON in a sentence', { message: `the body was {"token": "${SECRET}"}` }],
  ['a private key', { text: `-----BEGIN RSA PRIVATE KEY-----\n${SECRET}\n-----END RSA PRIVATE KEY-----` }],
  ['a token of a web service', { text: `see ${jwtPart}.${jwtPart}.${SECRET}` }],
  ['a token of a repository', { text: `git: ghp_${SECRET}${SECRET}` }],
  ['an access key', { text: `AKIA${'HUNTER2ZZ9'.padEnd(16, 'A')}` }],
  ['a secret as the name of a member', { [`https://ana:${SECRET}@host`]: 1 }],
]
