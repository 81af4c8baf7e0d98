import { expect, test } from 'vitest'
import { coalesced } from '../../src/api/coalesced'

test('calls during a run lead to one more run, never to two at a time', async () => {
  let [started, ended] = [0, 0]
  let end: () => void = () => undefined
  const call = coalesced(async () => {
    started += 1
    await new Promise<void>((resolve) => {
      end = resolve
    })
    ended += 1
  })

  for (let times = 0; times < 3; times += 1) call()
  expect([started, ended]).toEqual([1, 0])
  end()
  await new Promise((resolve) => setTimeout(resolve))

  expect([started, ended]).toEqual([2, 1])
})
