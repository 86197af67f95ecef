// Opens Swagger UI on this service's own document.
SwaggerUIBundle({
  url: document.documentElement.dataset.openapi,
  dom_id: "#swagger-ui",
  deepLinking: true,
  displayRequestDuration: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  persistAuthorization: false,
  presets: [SwaggerUIBundle.presets.apis],
  layout: "BaseLayout",
  validatorUrl: null,
});
