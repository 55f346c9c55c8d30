import type { Page } from 'playwright-core'
import type { StripeStandIn } from './stand-in.ts'

/**
 * Serves the stand-in's pages to a browser, at the addresses that it gives: on the one of a checkout somebody pays, on the
 * portal's they go back. `onPaid` is to deliver the events, as Stripe does before it sends people back.
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
