/** Ends with 0 when the service on this machine answers that it is healthy; an image without a shell has no curl. */
import { get } from 'node:http'
import process from 'node:process'

const port = process.env.TIDEGATE_SERVER_ADDR?.split(':').at(-1) ?? '8181'
process.exitCode = 1
get({ host: '127.0.0.1', port, path: '/health', timeout: 2000 }, (response) => {
  process.exitCode = response.statusCode === 200 ? 0 : 1
  response.resume()
})
  .on('timeout', function () {
    this.destroy()
  })
  .on('error', () => undefined)
