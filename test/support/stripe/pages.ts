import type { Page } from 'playwright-core'
import type { StripeStandIn } from './stand-in.ts'

/**
 * Serves the stand-in's pages to a browser, at their addresses: a link to pay on the checkout's, a link back on the
 * portal's. `onPaid` must deliver the events, as Stripe does before it redirects the user.
 */
export async function serveStripePages(
  page: Page,
  { world }: StripeStandIn,
  onPaid: () => Promise<void>,
): Promise<void> {
  const idOf = (url: string) => new URL(url).pathname.split('/').at(-1) ?? ''
  const show = (title: string, link: string, words: string) => ({
    contentType: 'text/html',
    body: `<!doctype html><title>${title}</title><h1>${title}</h1><a href="${link}">${words}</a>`,
  })
  await page.route('https://checkout.stripe.test/c/pay/*', async (route) => {
    const url = route.request().url()
    const session = world.objects.get('checkout.session', idOf(url))
    if (!url.endsWith('?paid')) return route.fulfill(show('Subscribe', `${url}?paid`, 'Pay'))
    world.completeCheckout(session.id)
    await onPaid()
    await route.fulfill({ status: 303, headers: { location: String(session.success_url) } })
  })
  await page.route('https://billing.stripe.test/p/session/*', async (route) => {
    const session = world.objects.get('billing_portal.session', idOf(route.request().url()))
    await route.fulfill(show('Invoices', String(session.return_url), 'Back'))
  })
}
